package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.FileStatus;
import dev.larder.server.source.Exclusion;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceIdentity;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of a source: of a folder and those below it, through links, or a single file. Makes one walk and opens no file. Leaves out excluded
 * names and, unless they are wanted, names that begin with a dot. Folders that cannot be read are refusals, and the walk goes
 * on. Files that cannot be read are refusals only if their format is wanted.
 */
final class FileListing {
    /** With more entries than this, several threads are faster. */
    private static final int MANY = 256;

    /**
     * File systems of this machine, which keep the time of the last change of each inode. A tmpfs does not: it takes no notice of writes to
     * mapped pages. Nor does an overlay, which may have a tmpfs below it.
     */
    private static final Set<String> WITH_TIMES_OF_CHANGES =
            Set.of("bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "xfs", "zfs");

    /**
     * After this time, the kernel has written a changed page of a mapped file back (vm.dirty_expire_centisecs is 30 s), so that the next
     * write to it changes the time of the file. Until then, a write to that page leaves the time as it is.
     */
    static final long SETTLED_NANOS = TimeUnit.MILLISECONDS.toNanos(Long.getLong("larder.settled-ms", 60_000));

    /** Stands for bytes of a name that are no text. */
    private static final char REPLACEMENT = '\uFFFD';

    private final Path root;
    private final boolean isFolder;
    private final Exclusion exclusion;
    private final ScanSettings settings;
    private final FileTable files;
    private final List<Unreadable> unreadable = new ArrayList<>();
    private final List<LarderException> refusals = new Refusals();
    private final FolderGuard guard = new FolderGuard();
    private final MetadataFolders metadataFolders = new MetadataFolders();
    private final long startNanos = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    private final FileStatus rootStatus;
    private boolean isOnOneDevice = true;
    private long newestNanos = Long.MIN_VALUE;
    private int hidden;

    /**
     * A file that cannot be looked at.
     *
     * @param name its path below the root
     */
    record Unreadable(String name, LarderException refusal) {}

    /**
     * An entry of a folder: either its status or the refusal is there.
     *
     * @param key sorts as the whole path does
     */
    private record Entry(
            Path path,
            String name,
            String key,
            @Nullable FileStatus status,
            @Nullable LarderException refusal) {
        static Entry at(Path path) {
            String name = String.valueOf(path.getFileName());
            try {
                FileStatus status = SourceIdentity.status(path);
                return new Entry(path, name, status.isFolder() ? name + "/" : name, status, textRefusal(path, name));
            } catch (LarderException e) {
                return new Entry(path, name, name, null, e);
            }
        }

        /** Refuses a name that is no text: the table of files keeps names as text, and would lose the path. */
        private static @Nullable LarderException textRefusal(Path path, String name) {
            return name.indexOf(REPLACEMENT) < 0 || isNamed(path, name)
                    ? null
                    : Refusal.unfit(
                            path, "its name is not text in this locale", "rename it, or leave it out with --exclude");
        }

        private static boolean isNamed(Path path, String name) {
            try {
                return path.equals(path.resolveSibling(name));
            } catch (InvalidPathException e) {
                return false;
            }
        }

        boolean isFolder() {
            return status != null && status.isFolder();
        }
    }

    private FileListing(Path root, FileStatus rootStatus, Exclusion exclusion, ScanSettings settings) {
        this.root = root;
        this.rootStatus = rootStatus;
        this.isFolder = rootStatus.isFolder();
        this.exclusion = exclusion;
        this.settings = settings;
        this.files = new FileTable(root, !isFolder);
    }

    /** Lists a folder or a single file; fails with a refusal if it is neither, or the whole file system. */
    static FileListing of(Path root, Exclusion exclusion, ScanSettings settings) {
        FileStatus status = SourceIdentity.status(root);
        FileListing listing = new FileListing(root, status, exclusion, settings);
        if (status.isFolder()) {
            FolderGuard.requireNotEverything(root);
            listing.enter(root, "");
        } else {
            listing.add("", String.valueOf(root.getFileName()), status);
        }
        return listing;
    }

    Path root() {
        return root;
    }

    boolean isFolder() {
        return isFolder;
    }

    /** Returns the files, sorted by path. */
    FileTable files() {
        return files;
    }

    /** Returns the folders that are one source each. */
    MetadataFolders metadataFolders() {
        return metadataFolders;
    }

    List<Unreadable> unreadable() {
        return unreadable;
    }

    /** Returns a refusal for each folder that cannot be read. */
    List<LarderException> refusals() {
        return refusals;
    }

    /** Returns how many files and folders were left out because their names begin with a dot. */
    int hidden() {
        return hidden;
    }

    /**
     * Returns a hash that differs after any change of the files, so that equal ones need not be opened. Returns an empty text if no
     * such hash exists: if the file system may keep no times of changes, or a file is so recent that a later write could have the same
     * time.
     *
     * @param settledNanos the age after which a write changes the time of a file; {@link #SETTLED_NANOS} except in tests
     */
    String look(long settledNanos) {
        boolean isCertain = isOnOneDevice
                && refusals.isEmpty()
                && unreadable.isEmpty()
                && newestNanos < startNanos - settledNanos
                && hasTimesOfChanges(root);
        return isCertain ? files.look() : "";
    }

    private static boolean hasTimesOfChanges(Path root) {
        try {
            return WITH_TIMES_OF_CHANGES.contains(Files.getFileStore(root).type());
        } catch (IOException e) {
            return false; // in a chroot, the root may be no mount point
        }
    }

    /** Visits a folder; {@code level} is its path below the root, empty or with a slash at the end. */
    private void enter(Path folder, String level) {
        try {
            guard.enter(folder);
        } catch (IOException e) {
            refusals.add(Refusal.unreadable(folder, 0, e));
            return;
        }
        try {
            visit(level, look(entries(folder, level)));
        } catch (IOException e) {
            refusals.add(Refusal.unreadable(folder, 0, e));
        } finally {
            guard.leave();
        }
    }

    /** Returns the paths as the file system has them: a path made of a name's text loses bytes that are no text. */
    private List<Path> entries(Path folder, String level) throws IOException {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
            for (Path entry : all) {
                String name = String.valueOf(entry.getFileName());
                boolean isHidden = name.startsWith(".") && !MetadataFolders.isPartOfOne(name);
                if (isHidden && !settings.takesHidden()) {
                    hidden++;
                } else if (!exclusion.matches(level, name)) {
                    entries.add(entry);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw Objects.requireNonNull(e.getCause());
        }
        return entries;
    }

    /** Returns the entries of a folder in the order of their whole paths. */
    private List<Entry> look(List<Path> entries) {
        Stream<Path> some = entries.size() > MANY ? entries.parallelStream() : entries.stream();
        return some.map(entry -> {
                    if (settings.isCancelled().getAsBoolean()) {
                        throw new CancellationException("cancelled while scanning");
                    }
                    return Entry.at(entry);
                })
                .sorted(Comparator.comparing(Entry::key))
                .toList();
    }

    private void visit(String level, List<Entry> entries) {
        for (Entry entry : entries) {
            if (entry.refusal != null && entry.isFolder()) {
                refusals.add(entry.refusal);
            } else if (entry.refusal != null) {
                unreadable.add(new Unreadable(level + entry.name, entry.refusal));
            } else if (entry.isFolder()) {
                enter(entry.path, level + entry.name + "/");
            } else {
                add(level, entry.name, Objects.requireNonNull(entry.status));
            }
        }
    }

    private void add(String level, String name, FileStatus status) {
        isOnOneDevice &=
                status.deviceMajor() == rootStatus.deviceMajor() && status.deviceMinor() == rootStatus.deviceMinor();
        newestNanos = Math.max(newestNanos, Math.max(status.modifiedNanos(), status.changedNanos()));
        metadataFolders.note(level, name);
        files.add(level, name, status.byteSize(), status.modifiedNanos(), status.changedNanos(), status.inode());
    }
}
