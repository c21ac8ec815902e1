package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.Digest;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.DataChecksum;
import dev.larder.server.store.UnservedStore;
import dev.larder.server.store.lock.LeaseTable;
import dev.larder.server.store.version.Manifest;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.awaitility.Awaitility;

/**
 * Checks the files of a store against the rules of its format: every version is whole, its bytes, index and manifest agree, nothing else lies
 * there, no process is missing that should hold a lease, and the daemon counts what is there. Versions are read by the code that reads a store
 * without a daemon.
 */
final class StoreInsides {
    private static final Set<PosixFilePermission> READABLE =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.GROUP_READ);
    private static final Set<String> OWN_FILES =
            Set.of(StoreLayout.INDEX, StoreLayout.MANIFEST, StoreLayout.LEASE, StoreLayout.PINNED, StoreLayout.SHARD);

    private final StoreLayout layout;
    private final List<String> problems = new ArrayList<>();

    private StoreInsides(StoreLayout layout) {
        this.layout = layout;
    }

    /** Fails unless nothing is wrong. What a daemon does in the background may still have to end, such as the removal of a version. */
    static void requireWhole(ServedStore served) {
        Awaitility.await()
                .untilAsserted(() ->
                        assertThat(problems(served)).as("problems of the store").isEmpty());
    }

    /** Returns what is wrong; empty also for a store that is gone. */
    static List<String> problems(ServedStore served) {
        List<String> problems = problems(served.layout());
        try {
            long counted = served.control().status().usedBytes();
            long found = UnservedStore.read(served.root()).storedBytes(version -> true);
            if (counted != found) {
                problems.add("the daemon counts other bytes than there are: counted=" + counted + " found=" + found);
            }
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_DAEMON) {
                throw e;
            }
        }
        return problems;
    }

    static List<String> problems(StoreLayout layout) {
        StoreInsides insides = new StoreInsides(layout);
        try {
            if (Files.isDirectory(layout.data())) {
                insides.look();
            }
        } catch (IOException e) {
            insides.problems.add("cannot be read: " + e);
        }
        return insides.problems;
    }

    private void look() throws IOException {
        requireOnly(
                layout.root(),
                Stream.concat(layout.parts().stream(), Stream.of(layout.lock()))
                        .map(StoreInsides::fileName)
                        .collect(Collectors.toSet()));
        if (Files.exists(layout.incoming())) {
            requireOnly(layout.incoming(), Set.of());
        }
        UnservedStore store = UnservedStore.read(layout.root());
        store.unreadable().forEach(e -> problems.add(String.valueOf(e.getMessage())));
        store.unverified().forEach(version -> problems.add("not verified: " + version.folder()));
        List<PublishedVersion> versions = new ArrayList<>(store.current());
        versions.addAll(store.retired());
        for (PublishedVersion version : versions) {
            look(version);
        }
        for (String dataset : ServedStore.entries(layout.data())) {
            look(dataset, store, versions);
        }
        requireHolders(store);
    }

    private void look(String dataset, UnservedStore store, List<PublishedVersion> versions) throws IOException {
        Set<String> expected = versions.stream()
                .filter(version -> version.dataset().equals(dataset))
                .map(version -> Long.toString(version.version()))
                .collect(Collectors.toCollection(TreeSet::new));
        boolean isCurrent =
                store.current().stream().anyMatch(version -> version.dataset().equals(dataset));
        boolean isRegistered = store.registrations().stream()
                .anyMatch(registration -> registration.dataset().equals(dataset));
        if (!isCurrent && !isRegistered) {
            problems.add("a dataset that nobody can open: " + dataset);
        }
        expected.add(isCurrent ? StoreLayout.CURRENT : StoreLayout.REGISTERED);
        requireOnly(layout.dataset(dataset), expected);
    }

    private void look(PublishedVersion version) throws IOException {
        for (ArrayEntry array : version.arrays()) {
            CRC32C crc = new CRC32C();
            Path file = version.folder().resolve(array.file());
            long missing = DataChecksum.update(crc, file, array.offset(), array.byteSize(), count -> true);
            if (missing > 0 || (int) crc.getValue() != array.crc32c()) {
                problems.add("bytes are not those that were published: array=" + array.name() + " file=" + file);
            }
        }
        if (!version.digest().equals(Digest.hex(Digest.of(version.arrays())))) {
            problems.add("the digest is not that of the arrays: " + version.folder());
        }
        StringWriter manifest = new StringWriter();
        Manifest.write(version, manifest);
        if (!manifest.toString().equals(Files.readString(version.folder().resolve(StoreLayout.MANIFEST)))) {
            problems.add("index and manifest differ: " + version.folder());
        }
        Set<String> expected = version.arrays().stream()
                .map(ArrayEntry::file)
                .filter(file -> !SegmentFile.isOutside(file))
                .collect(Collectors.toSet());
        expected.addAll(OWN_FILES);
        try (Stream<Path> files = Files.walk(version.folder())) {
            for (Path file : files.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                    .toList()) {
                lookAtFile(version.folder(), file, expected);
            }
        }
    }

    private void lookAtFile(Path folder, Path file, Set<String> expected) throws IOException {
        if (!expected.contains(folder.relativize(file).toString())) {
            problems.add("not of a version: " + file);
        }
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                || !READABLE.containsAll(Files.getPosixFilePermissions(file))) {
            problems.add("can be changed: " + file);
        }
    }

    /** A version that is not current is there only because a process leases it, and a lease belongs to a process. */
    private void requireHolders(UnservedStore store) {
        LeaseTable.of(layout).inUse().stream()
                .filter(held -> held.pids().isEmpty())
                .forEach(held -> problems.add("leased by no process: " + held));
        Set<Path> leased = store.holders().keySet();
        store.retired().stream()
                .filter(version -> !leased.contains(version.folder()))
                .forEach(version -> problems.add("retired, and not leased: " + version.folder()));
    }

    private void requireOnly(Path folder, Set<String> expected) {
        List<String> found = new ArrayList<>(ServedStore.entries(folder));
        found.removeAll(expected);
        found.forEach(entry -> problems.add("left behind: " + folder.resolve(entry)));
    }

    private static String fileName(Path path) {
        return Objects.requireNonNull(path.getFileName()).toString();
    }
}
