package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.protocol.Request.NewFile;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.space.Reservation;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The files of an upload by a member of the group. The daemon makes them, so that it owns them and can seal, empty and remove them
 * whatever the member does; the member can open them, as only it is told where they are, but can put nothing else there. Thread-safe.
 */
final class MemberFiles {
    /** Looking at more at once would keep others waiting. */
    private static final int LOOKS = 2_000;

    private final IncomingVersion folder;
    private final GroupQuota quota;
    private final Reservation reservation;

    /** Whether files occupy no more than the pages that they are long. */
    private final boolean isExact;

    /** Held while files are made, one request at a time. */
    private final Object making = new Object();

    private final Map<String, Long> lengths = new LinkedHashMap<>();
    private final Map<String, String> told = new HashMap<>();
    private List<String> unseen = List.of();
    private long reservedBytes; // changes under both locks, as does the next
    private long promisedBytes;
    private boolean open = true;
    private boolean sealed;

    /** Starts with a share of the quota as large as the reservation, which was set aside for it, and gives it back in the end. */
    MemberFiles(IncomingVersion folder, GroupQuota quota, Reservation reservation) {
        this.folder = folder;
        this.quota = quota;
        this.reservation = reservation;
        this.reservedBytes = reservation.bytes();
        this.isExact = Mount.of(folder.folder())
                .map(mount -> mount.type().equals("tmpfs") && !mount.hasHugePages())
                .orElse(false);
    }

    /** Makes files, where the quota has room for them. Others look at the files meanwhile: it may wait for room. */
    void make(List<NewFile> files) {
        synchronized (making) {
            requireUnsealed();
            long stored = storedBytes(files);
            grow(stored);
            synchronized (this) {
                requireUnsealed();
                promisedBytes += stored;
            }
            files.forEach(this::make); // each with the lock for itself: others look at the files meanwhile
        }
    }

    /** Returns whether there is a file for an array. */
    synchronized boolean has(String array) {
        return lengths.containsKey(path(array));
    }

    private synchronized void requireUnsealed() {
        if (!open || sealed) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no such build, or it is being published")
                    .with("dataset", folder.dataset())
                    .remedy("request the build again");
        }
    }

    private synchronized void make(NewFile file) {
        requireUnsealed();
        String path = path(file.array());
        folder.makeFileForMember(path);
        lengths.put(path, file.bytes());
        if (!file.source().isEmpty()) {
            told.put(file.array(), file.source());
        }
    }

    private long storedBytes(List<NewFile> files) {
        long sum = promisedBytes;
        try {
            for (NewFile file : files) {
                Names.requireArray(file.array());
                sum = Math.addExact(sum, storedBytes(file.bytes()));
            }
        } catch (ArithmeticException e) {
            throw Failure.of(ErrorCode.NO_SPACE, "the sum of the files exceeds any store")
                    .with("dataset", folder.dataset())
                    .cause(e)
                    .remedy("announce the length of each file before you write it");
        }
        return sum - promisedBytes;
    }

    private void grow(long more) {
        long missing = promisedBytes + more - reservedBytes;
        if (missing > 0) {
            quota.reserve(missing);
            boolean isKept = false;
            try {
                reservation.grow(missing);
                isKept = keep(missing);
            } finally {
                if (!isKept) {
                    quota.release(missing);
                }
            }
        }
    }

    /** False where the upload has ended meanwhile, and given back what it had. */
    private synchronized boolean keep(long more) {
        if (open) {
            reservedBytes += more;
        }
        return open;
    }

    /** An empty file takes memory too. */
    private static long storedBytes(long byteSize) {
        return Math.multiplyExact(Math.addExact(byteSize / PageSize.BYTES, 2), PageSize.BYTES);
    }

    /** Huge pages, and what a disk sets aside for a file that grows, are more than was announced. */
    private long mostStoredBytes(long announced) {
        long stored = storedBytes(announced);
        return isExact ? stored : stored + Math.max(stored, PageSize.HUGE_BYTES);
    }

    private static String path(String array) {
        return array + ".npy";
    }

    /** Returns where arrays come from, as far as the member has said so. */
    synchronized Map<String, String> told() {
        return Map.copyOf(told);
    }

    /** Looks at some files, at others the next time; fails where one is longer than the member had announced. */
    synchronized void requireLengths() {
        if (unseen.isEmpty()) {
            unseen = List.copyOf(lengths.keySet());
        }
        List<String> now = unseen.subList(0, Math.min(LOOKS, unseen.size()));
        unseen = unseen.subList(now.size(), unseen.size());
        if (open && !sealed) { // else some have been moved to where they are published from
            now.forEach(this::requireAnnounced);
        }
    }

    /** A file can also take memory beyond its end. */
    private void requireAnnounced(String file) {
        long announced = lengths.getOrDefault(file, 0L);
        FileStatus found = folder.statusOf(file);
        if (found.byteSize() > announced || found.storedBytes() > mostStoredBytes(announced)) {
            throw Failure.of(ErrorCode.REFUSED, "a file is longer than was announced")
                    .with("dataset", folder.dataset())
                    .with("file", file)
                    .with("announced", announced)
                    .with("found", found.byteSize())
                    .with("stored", found.storedBytes())
                    .remedy("announce the length of each file before you write it");
        }
    }

    /** Lets nobody open the files for writing any more; no others are made from now on. */
    synchronized void seal() {
        lengths.keySet().forEach(this::requireAnnounced);
        sealed = true;
        folder.sealFiles(lengths.keySet());
    }

    /** Gives back the files' memory, as far as they were not published, and the share of the quota. Idempotent. */
    synchronized void close() {
        if (open) {
            open = false;
            try {
                folder.emptyFiles(lengths.keySet());
            } finally {
                quota.release(reservedBytes);
            }
        }
    }
}
