package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.IndexReader;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStamp;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LeaseProbe;
import dev.larder.server.store.lock.LockRecord;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.space.Space;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Reads back what an earlier daemon published in a store. */
final class Adoption {
    static final String DAMAGED = ".damaged";
    private static final String UNVERIFIED = ".unverified";
    private static final int MOST_NAMED = 100;

    private final Posix posix;
    private final StoreLayout layout;
    private final VersionNames names;
    private final LockRecord.Contents state;
    private final BooleanSupplier verifies;
    private final BiConsumer<Path, RuntimeException> onDamaged;
    private final Map<Path, Reading> readings = new ConcurrentHashMap<>();
    private final Set<Path> verifiedAtOnce = new HashSet<>();
    private final List<Path> setAside = new ArrayList<>();
    private long distrusted;
    private final List<PublishedVersion> versions = new ArrayList<>();
    private final List<PublishedVersion> unverified = new ArrayList<>();
    private final List<PublishedVersion> retired = new ArrayList<>();
    private final List<Registration> registrations = new ArrayList<>();
    private final Map<String, Long> lastVersions = new HashMap<>();

    /** Prepares to read a store in this state; {@code verifies} has every byte compared with its checksum. */
    Adoption(
            Posix posix,
            StoreLayout layout,
            VersionNames names,
            LockRecord.Contents state,
            BooleanSupplier verifies,
            BiConsumer<Path, RuntimeException> onDamaged) {
        this.posix = posix;
        this.layout = layout;
        this.names = names;
        this.state = state;
        this.verifies = verifies;
        this.onDamaged = onDamaged;
    }

    /**
     * Reads every version that is whole. What is damaged is removed where it can be loaded again, and else set aside: it may be all
     * that is left of something computed. What was replaced by one that is damaged, or was evicted, stays retired. Whatever else
     * lies there is rubbish, and may stand in the way.
     *
     * <p>What nobody has looked at since the machine stopped is held back, out of sight of clients, until its checksums have been
     * compared. Where the machine stopped before the store was synced, every version counts as damaged.
     */
    Store.Adopted adopt() throws IOException {
        if (state == LockRecord.Contents.UNVERIFIED) {
            holdBackAll();
        }
        if (state != LockRecord.Contents.UNTRUSTED) {
            readAll();
        }
        for (Path dataset : entries(layout.data())) {
            if (isFolder(dataset)) {
                adopt(dataset);
            } else {
                new Removal().remove(dataset);
            }
        }
        reportAll();
        versions.sort(Comparator.comparing(PublishedVersion::dataset).thenComparing(PublishedVersion::version));
        return new Store.Adopted(versions, unverified, retired, registrations, lastVersions);
    }

    private void reportAll() {
        if (distrusted > 0) {
            onDamaged.accept(
                    layout.data(),
                    Failure.of(ErrorCode.CHECKSUM, "the machine stopped before the store was synced")
                            .with("store", layout.root())
                            .with("versionsToLoadAgain", distrusted)
                            .remedy("they are loaded again on request; larder stop --keep syncs a store"));
        }
        if (!setAside.isEmpty()) {
            onDamaged.accept(
                    layout.data(),
                    Failure.of(ErrorCode.CHECKSUM, "computed data was set aside")
                            .with("count", setAside.size())
                            .with("folders", setAside.subList(0, Math.min(MOST_NAMED, setAside.size())))
                            .remedy("copy the undamaged .npy files from there, or compute the data again"));
        }
    }

    /** Takes every version out of sight; one that somebody has found already is verified before anybody else can. */
    private void holdBackAll() throws IOException {
        LeaseProbe leases = new LeaseProbe(posix);
        for (Path version : versionFolders()) {
            Path heldBack = version.resolveSibling(fileName(version) + UNVERIFIED);
            if (number(version) == 0 || isHeldBack(version)) {
                continue;
            }
            boolean isTaken = Files.exists(heldBack, LinkOption.NOFOLLOW_LINKS);
            if (isTaken || !leases.runUnleased(version, isLocked -> move(version, heldBack))) {
                verifiedAtOnce.add(version);
            }
        }
    }

    private static boolean move(Path version, Path heldBack) {
        try {
            Files.move(version, heldBack, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (IOException e) {
            throw Space.failed("cannot hold a version back until it is verified", version, e);
        }
    }

    /** What reading a version led to: the version, or why there is none. */
    private record Reading(
            @Nullable PublishedVersion version, @Nullable RuntimeException failure) {
        PublishedVersion orThrow() {
            if (version == null) {
                throw Objects.requireNonNull(failure);
            }
            return version;
        }
    }

    /** Reads all versions with all processors before anything is decided, as clients wait for it. */
    private void readAll() throws IOException {
        versionFolders().parallelStream().forEach(folder -> readings.put(folder, tryRead(folder)));
    }

    private List<Path> versionFolders() throws IOException {
        List<Path> folders = new ArrayList<>();
        for (Path dataset : entries(layout.data())) {
            if (isFolder(dataset)) {
                entries(dataset).stream().filter(Adoption::isVersion).forEach(folders::add);
            }
        }
        return folders;
    }

    private static boolean isVersion(Path entry) {
        return isFolder(entry) && !fileName(entry).endsWith(DAMAGED);
    }

    private static boolean isHeldBack(Path version) {
        return fileName(version).endsWith(UNVERIFIED);
    }

    /** Failures are values here: what one thread throws at another may arrive as something else. */
    private Reading tryRead(Path folder) {
        try {
            return new Reading(read(fileName(Objects.requireNonNull(folder.getParent())), folder), null);
        } catch (IOException e) {
            return new Reading(null, new UncheckedIOException(e));
        } catch (RuntimeException e) {
            return new Reading(null, e);
        }
    }

    /** What lies in the folder of a dataset. */
    private static final class Contents {
        private final List<PublishedVersion> whole = new ArrayList<>();
        private final List<PublishedVersion> unverified = new ArrayList<>();
        private final List<Registration> sources = new ArrayList<>();
        private final List<Path> doomed = new ArrayList<>();
        private long lastVersion;

        Optional<Registration> newestSource() {
            return sources.stream().max(Comparator.comparing(Registration::version));
        }

        /** Tells whether nothing newer than the newest whole version has been there. */
        boolean isResident() {
            return whole.stream().anyMatch(version -> version.version() == lastVersion);
        }

        /** Takes the newest version out of what is to leave, where it is held back. */
        Optional<PublishedVersion> takeHeldBack() {
            Optional<PublishedVersion> newest = isResident()
                    ? Optional.empty()
                    : unverified.stream()
                            .filter(version -> version.version() == lastVersion)
                            .findFirst();
            newest.ifPresent(unverified::remove);
            return newest;
        }
    }

    private void adopt(Path dataset) throws IOException {
        Contents contents = contents(dataset);
        lastVersions.put(fileName(dataset), contents.lastVersion);
        Optional<PublishedVersion> heldBack = contents.takeHeldBack();
        retired.addAll(contents.unverified);
        if (contents.isResident()) {
            versions.addAll(contents.whole); // the link is replaced in one step, not missed
            Files.deleteIfExists(dataset.resolve(StoreLayout.REGISTERED));
        } else {
            retired.addAll(contents.whole);
            Files.deleteIfExists(dataset.resolve(StoreLayout.CURRENT));
            Optional<Registration> source = contents.newestSource();
            if (heldBack.isPresent()) {
                unverified.add(heldBack.get());
            } else if (source.isPresent()) {
                keep(source.get(), dataset);
            }
        }
        new Removal().removeAll(contents.doomed); // not before what loads it again is noted
        Publication.deleteIfEmpty(dataset);
    }

    private Contents contents(Path dataset) throws IOException {
        Contents contents = new Contents();
        for (Path entry : entries(dataset)) {
            String name = fileName(entry);
            if (isFolder(entry)) {
                contents.lastVersion = Math.max(contents.lastVersion, number(entry));
                if (isVersion(entry)) {
                    addVersion(dataset, entry, contents);
                }
            } else if (!name.equals(StoreLayout.CURRENT) && !name.equals(StoreLayout.REGISTERED)) {
                new Removal().remove(entry);
            }
        }
        registration(dataset).ifPresent(contents.sources::add);
        long sourceVersion = contents.newestSource().map(Registration::version).orElse(0L);
        contents.lastVersion = Math.max(contents.lastVersion, sourceVersion);
        return contents;
    }

    /** Returns the number that a folder is named for; 0 where it is named for none. */
    private static long number(Path folder) {
        String name = fileName(folder);
        try {
            return Long.parseLong(plainName(name));
        } catch (NumberFormatException noVersion) {
            return 0;
        }
    }

    private static String plainName(String folder) {
        for (String suffix : List.of(DAMAGED, UNVERIFIED)) {
            if (folder.endsWith(suffix)) {
                return folder.substring(0, folder.length() - suffix.length());
            }
        }
        return folder;
    }

    private void keep(Registration registration, Path dataset) throws IOException {
        registrations.add(registration);
        if (!registration(dataset).equals(Optional.of(registration))) {
            names.writeRegistration(registration);
        }
    }

    /** Adds a version, or what loads it again. */
    private void addVersion(Path dataset, Path folder, Contents contents) throws IOException {
        if (state == LockRecord.Contents.UNTRUSTED && number(folder) > 0) {
            distrust(dataset, folder, contents);
            return;
        }
        try {
            PublishedVersion version =
                    readings.computeIfAbsent(folder, this::tryRead).orThrow();
            (isHeldBack(folder) ? contents.unverified : contents.whole).add(version);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (LarderException e) {
            if (e.code() != ErrorCode.CHECKSUM && e.code() != ErrorCode.REFUSED) {
                throw e; // such as too many open files: nothing is known about the version itself
            }
            Optional<Registration> again = source(dataset, folder);
            again.ifPresent(contents.sources::add);
            if (again.isEmpty() && Files.exists(folder.resolve(StoreLayout.MANIFEST))) {
                setAside.add(setAside(folder));
            } else {
                contents.doomed.add(folder);
            }
            onDamaged.accept(folder, e);
        }
    }

    /** Keeps what loads a version again, else the version itself: without its manifest, too, unless it was being evicted. */
    private void distrust(Path dataset, Path folder, Contents contents) throws IOException {
        Optional<Registration> again = source(dataset, folder);
        boolean isBeingEvicted = !Files.exists(folder.resolve(StoreLayout.MANIFEST))
                && Files.exists(dataset.resolve(StoreLayout.REGISTERED), LinkOption.NOFOLLOW_LINKS);
        again.ifPresent(contents.sources::add);
        if (again.isPresent() || isBeingEvicted) {
            contents.doomed.add(folder);
            distrusted++;
        } else {
            setAside.add(setAside(folder));
        }
    }

    private static Optional<Registration> source(Path dataset, Path folder) {
        try {
            Provenance provenance = Manifest.readProvenance(folder.resolve(StoreLayout.MANIFEST));
            if (provenance.origins().isEmpty()) {
                return Optional.empty();
            }
            boolean pinned = Files.exists(folder.resolve(StoreLayout.PINNED));
            return Optional.of(Registration.ofLost(fileName(dataset), number(folder), provenance, pinned));
        } catch (LarderException unreadable) {
            return Optional.empty();
        }
    }

    static Path asideOf(Path folder) {
        return folder.resolveSibling(plainName(fileName(folder)) + DAMAGED);
    }

    /** Moves what may be all that is left of something computed to where nobody takes it for a version, and returns where. */
    static Path setAside(Path folder) throws IOException {
        Path aside = asideOf(folder);
        new Removal().remove(aside);
        Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        return aside;
    }

    private Optional<Registration> registration(Path dataset) throws IOException {
        Path file = dataset.resolve(StoreLayout.REGISTERED);
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            return Optional.of(Manifest.readRegistration(file, fileName(dataset)));
        } catch (LarderException e) {
            new Removal().remove(file);
            onDamaged.accept(file, e);
            return Optional.empty();
        }
    }

    private static boolean isFolder(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    private static List<Path> entries(Path parent) throws IOException {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.toList();
        }
    }

    private PublishedVersion read(String dataset, Path folder) throws IOException {
        Path file = folder.resolve(StoreLayout.INDEX);
        for (Path own : List.of(file, folder.resolve(StoreLayout.MANIFEST), folder.resolve(StoreLayout.LEASE))) {
            requireOwn(folder, own);
        }
        IndexReader index;
        try {
            index = new IndexReader(ByteBuffer.wrap(Files.readAllBytes(file)), file);
        } catch (IOException e) {
            throw damaged(folder, "no readable index", e);
        }
        requireNumber(folder, index);
        Provenance provenance = Manifest.readProvenance(folder.resolve(StoreLayout.MANIFEST));
        List<SegmentFile> segments = IntStream.range(0, index.segmentCount())
                .mapToObj(index::segment)
                .toList();
        long storedBytes =
                storedBytes(folder, segments, provenance.options().inPlace()) + Mount.manifestBytes(layout.root());
        List<ArrayEntry> arrays = new ArrayList<>();
        for (int i = 0; i < index.arrayCount(); i++) {
            arrays.add(index.array(i));
        }
        // a check that was asked for may be given up for a stop, but nothing that has to be checked goes unchecked
        BooleanSupplier goesOn = verifiedAtOnce.contains(folder) ? () -> true : verifies;
        if (goesOn.getAsBoolean()) {
            arrays.parallelStream().forEach(array -> requireChecksum(folder, array, goesOn));
        }
        return new PublishedVersion(
                dataset,
                index.version(),
                folder,
                index.digest(),
                index.publishedEpochMs(),
                storedBytes,
                arrays,
                provenance);
    }

    private static void requireChecksum(Path folder, ArrayEntry array, BooleanSupplier goesOn) {
        CRC32C crc = new CRC32C();
        Path file = folder.resolve(array.file());
        try {
            DataChecksum.update(crc, file, array.offset(), array.byteSize(), bytes -> goesOn.getAsBoolean());
        } catch (IOException e) {
            throw damaged(folder, "array cannot be read: " + array.name(), e);
        }
        if ((int) crc.getValue() != array.crc32c() && goesOn.getAsBoolean()) {
            throw damaged(folder, "array does not match its checksum: " + array.name(), null);
        }
    }

    private static void requireOwn(Path folder, Path file) {
        try {
            Manifest.requireOwn(file);
        } catch (IOException e) {
            throw damaged(folder, "file is missing, or belongs to another user: " + file.getFileName(), e);
        }
    }

    private static void requireNumber(Path folder, IndexReader index) {
        if (!plainName(fileName(folder)).equals(Long.toString(index.version()))
                || !Files.exists(folder.resolve(StoreLayout.LEASE))) {
            throw damaged(folder, "index and folder do not match", null);
        }
    }

    /** Sums what the segments of a version occupy, once all of them are what the index says. */
    private long storedBytes(Path folder, List<SegmentFile> segments, boolean inPlace) {
        LongAdder sum = new LongAdder();
        Optional<RuntimeException> failure = segments.parallelStream()
                .flatMap(segment -> {
                    try {
                        sum.add(storedBytes(folder, segment, inPlace));
                        return Stream.empty();
                    } catch (RuntimeException e) {
                        return Stream.of(e);
                    }
                })
                .findFirst();
        if (failure.isPresent()) {
            throw failure.get();
        }
        return sum.sum();
    }

    private long storedBytes(Path folder, SegmentFile segment, boolean inPlace) {
        if (inPlace && SegmentFile.isOutside(segment.file())) {
            requireUnchanged(folder, segment);
            return 0;
        }
        return requireSegment(folder, segment.file(), segment.byteSize());
    }

    private long requireSegment(Path folder, String file, long byteSize) {
        Path segment = folder.resolve(file).normalize();
        requireOwn(folder, segment);
        if (!segment.startsWith(folder) || !isRegular(segment, byteSize)) {
            throw damaged(folder, "segment is missing or has the wrong length: " + file, null);
        }
        int descriptor = posix.openForReading(segment);
        try {
            return posix.status(descriptor).storedBytes();
        } finally {
            posix.close(descriptor);
        }
    }

    private static boolean isRegular(Path file, long byteSize) {
        try {
            BasicFileAttributes found =
                    Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return found.isRegularFile() && found.size() == byteSize;
        } catch (IOException absent) {
            return false;
        }
    }

    /** A file outside the store is only looked at, never removed, whatever it turns out to be. */
    private void requireUnchanged(Path folder, SegmentFile segment) {
        FileStamp found;
        try {
            int descriptor = posix.openForReading(Path.of(segment.file()));
            try {
                found = FileStamp.of(posix.status(descriptor));
            } finally {
                posix.close(descriptor);
            }
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND && e.code() != ErrorCode.REFUSED) {
                throw e; // such as too many open files
            }
            throw damaged(folder, "file that is mapped in place cannot be opened: " + segment.file(), null);
        }
        if (!found.equals(segment.stamp())) {
            throw damaged(folder, "file that is mapped in place has changed: " + segment.file(), null);
        }
    }

    private static RuntimeException damaged(Path folder, String reason, @Nullable IOException cause) {
        Failure failure = Failure.of(ErrorCode.CHECKSUM, "version is damaged")
                .with("folder", folder)
                .with("reason", reason);
        return (cause == null ? failure : failure.cause(cause)).remedy(Remedy.reload(folder));
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }
}
