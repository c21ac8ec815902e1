package dev.larder.server.store.lock;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.IndexReader;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.space.Occupied;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Lists leases from the files of a store and the kernel's table of locks. Needs no daemon, so it works if the daemon hangs or is dead.
 * Processes of other pid namespaces are not visible, but {@link #inUse} counts their leases.
 */
public final class LeaseTable {
    private static final Path PROCESSES = Path.of("/proc");

    private final Posix posix = Posix.system();
    private final StoreLayout layout;

    /**
     * A version and the processes that lease it.
     *
     * @param storedBytes the space that its segments occupy
     * @param pids in ascending order; empty only from {@link #inUse}, if the processes are not visible
     */
    public record HeldVersion(String dataset, long version, long storedBytes, List<Long> pids) {
        public HeldVersion {
            pids = List.copyOf(pids);
        }
    }

    private LeaseTable(StoreLayout layout) {
        this.layout = layout;
    }

    /** Returns the table of a store; reads nothing yet. */
    public static LeaseTable of(StoreLayout layout) {
        return new LeaseTable(layout);
    }

    /**
     * Returns the leased versions, current and retired, sorted by dataset and version.
     *
     * @throws LarderException NO_DAEMON if there is no store, REFUSED if it belongs to another user
     */
    public List<HeldVersion> held() {
        return held(versions());
    }

    /** Returns the leased ones of these version folders, sorted like {@link #held}. */
    public List<HeldVersion> held(List<Path> versions) {
        return held(versions, false);
    }

    private List<HeldVersion> held(List<Path> versions, boolean evenIfUnseen) {
        LockTable locks = LockTable.read();
        List<HeldVersion> held = new ArrayList<>();
        for (Path version : versions) {
            addIfHeld(version, locks, evenIfUnseen, held);
        }
        held.sort(Comparator.comparing(HeldVersion::dataset).thenComparing(HeldVersion::version));
        return held;
    }

    private List<Path> versions() {
        StoreLocation.requireStore(layout);
        return folders(layout.data()).stream()
                .flatMap(dataset -> folders(dataset).stream())
                .toList();
    }

    /**
     * Returns the versions that a process other than the daemon leases, sorted by dataset and version. Locks each lease for a moment; a
     * client that opens the version waits meanwhile.
     *
     * @throws LarderException as {@link #held}
     */
    public List<HeldVersion> inUse() {
        List<HeldVersion> inUse = held(versions(), true);
        List<Long> daemon = daemonPid().stream().boxed().toList();
        inUse.removeIf(version -> version.pids().equals(daemon) && !daemon.isEmpty());
        return inUse;
    }

    /** Returns the daemon that owns the store; empty if there is none, or none in this pid namespace. */
    public OptionalLong daemonPid() {
        return FileNumber.of(layout.lock()) // by name, because only its owner may open it
                .map(LockTable.read()::owner)
                .orElse(OptionalLong.empty());
    }

    private void addIfHeld(Path version, LockTable locks, boolean evenIfUnseen, List<HeldVersion> held) {
        try {
            Path file = version.resolve(StoreLayout.LEASE);
            if (evenIfUnseen && !new LeaseProbe(posix).isLeased(version)) {
                return;
            }
            FileStatus lease = Occupied.status(posix, file);
            List<Long> pids = living(locks.readers(lease), lease);
            if (evenIfUnseen || !pids.isEmpty()) {
                long number = Long.parseLong(fileName(version));
                String dataset =
                        String.valueOf(layout.data().relativize(version).getName(0));
                held.add(new HeldVersion(dataset, number, storedBytes(version), pids));
            }
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND) { // it was removed meanwhile
                throw e;
            }
        } catch (NumberFormatException notAVersion) {
            return;
        }
    }

    /**
     * Returns the processes that hold the lock now. The kernel reports the process that took it; if that has ended, its forked children
     * still hold the lock.
     */
    private static List<Long> living(List<Long> pids, FileStatus lease) {
        TreeSet<Long> living = new TreeSet<>(pids);
        living.removeIf(pid -> !Files.exists(PROCESSES.resolve(Long.toString(pid))));
        if (living.size() < pids.size()) {
            living.addAll(inheritors(lease));
        }
        return new ArrayList<>(living);
    }

    /** Finds the processes that have the locked file open, as far as this user may see them. */
    private static List<Long> inheritors(FileStatus lease) {
        List<Long> pids = new ArrayList<>();
        for (Path process : folders(PROCESSES)) {
            boolean isProcess = fileName(process).chars().allMatch(Character::isDigit);
            if (isProcess && files(process.resolve("fdinfo")).stream().anyMatch(file -> hasLock(file, lease))) {
                pids.add(Long.parseLong(fileName(process)));
            }
        }
        return pids;
    }

    private static boolean hasLock(Path descriptor, FileStatus lease) {
        try (Stream<String> lines = Files.lines(descriptor)) {
            Stream<String> locks = lines.filter(line -> line.startsWith("lock:"))
                    .map(line -> line.substring("lock:".length()).strip());
            return !LockTable.of(locks).readers(lease).isEmpty();
        } catch (IOException | UncheckedIOException closedMeanwhile) {
            return false;
        }
    }

    private long storedBytes(Path version) {
        Path file = version.resolve(StoreLayout.INDEX);
        try {
            IndexReader index = new IndexReader(ByteBuffer.wrap(Files.readAllBytes(file)), file);
            List<SegmentFile> segments = new ArrayList<>();
            for (int number = 0; number < index.segmentCount(); number++) {
                segments.add(index.segment(number));
            }
            return Occupied.ofSegments(posix, version, segments);
        } catch (IOException | LarderException e) {
            return 0; // it is being removed, is damaged, or is not readable by this user
        }
    }

    private static List<Path> folders(Path parent) {
        return files(parent).stream()
                .filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                .toList();
    }

    private static List<Path> files(Path parent) {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.toList();
        } catch (IOException | UncheckedIOException gone) {
            return List.of();
        }
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }
}
