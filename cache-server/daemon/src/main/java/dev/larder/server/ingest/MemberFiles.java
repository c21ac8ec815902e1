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
 * The files of an upload by a member of the group. The daemon creates and owns them, so it can seal, empty and remove them at any time. The
 * member can open them, because no other process learns their names, but cannot create others. Thread-safe.
 */
final class MemberFiles {
    /** Checking more files at a time would delay other calls. */
    private static final int MOST_CHECKED = 2_000;

    private final IncomingVersion folder;
    private final GroupQuota quota;
    private final Reservation reservation;

    /** Whether files occupy only the pages of their length. */
    private final boolean isExact;

    /** Held while files are created, one request at a time. */
    private final Object creation = new Object();

    private final Map<String, Long> lengths = new LinkedHashMap<>();
    private final Map<String, String> claimedSources = new HashMap<>();
    private List<String> unseen = List.of();
    private long reservedBytes; // this and the next field change under both locks
    private long promisedBytes;
    private boolean open = true;
    private boolean sealed;

    /** Starts with a share of the quota equal to the reservation, which the caller has reserved. Releases it in the end. */
    MemberFiles(IncomingVersion folder, GroupQuota quota, Reservation reservation) {
        this.folder = folder;
        this.quota = quota;
        this.reservation = reservation;
        this.reservedBytes = reservation.bytes();
        this.isExact = Mount.of(folder.folder())
                .map(mount -> mount.type().equals("tmpfs") && !mount.hasHugePages())
                .orElse(false);
    }

    /** Creates files if the quota allows them. May wait for space; other calls can proceed meanwhile. */
    void create(List<NewFile> files) {
        synchronized (creation) {
            requireUnsealed();
            long stored = storedBytes(files);
            grow(stored);
            synchronized (this) {
                requireUnsealed();
                promisedBytes += stored;
            }
            files.forEach(this::create); // one lock for each file, so that other calls can proceed in between
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

    private synchronized void create(NewFile file) {
        requireUnsealed();
        String path = path(file.array());
        folder.makeFileForMember(path);
        lengths.put(path, file.bytes());
        if (!file.source().isEmpty()) {
            claimedSources.put(file.array(), file.source());
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
            boolean isAdded = false;
            try {
                reservation.grow(missing);
                isAdded = addReserved(missing);
            } finally {
                if (!isAdded) {
                    quota.release(missing);
                }
            }
        }
    }

    /** Returns false if the upload has ended meanwhile, and has released its share. */
    private synchronized boolean addReserved(long more) {
        if (open) {
            reservedBytes += more;
        }
        return open;
    }

    /** An empty file also takes memory. */
    private static long storedBytes(long byteSize) {
        return Math.multiplyExact(Math.addExact(byteSize / PageSize.BYTES, 2), PageSize.BYTES);
    }

    /** Huge pages, and blocks that a disk allocates ahead for a growing file, exceed the announced length. */
    private long mostStoredBytes(long announced) {
        long stored = storedBytes(announced);
        return isExact ? stored : stored + Math.max(stored, PageSize.HUGE_BYTES);
    }

    private static String path(String array) {
        return array + ".npy";
    }

    /** Returns the sources of arrays that the member claims. */
    synchronized Map<String, String> claimedSources() {
        return Map.copyOf(claimedSources);
    }

    /** Checks some files, and others at the next call. Fails if one is longer than the member announced. */
    synchronized void requireLengths() {
        if (unseen.isEmpty()) {
            unseen = List.copyOf(lengths.keySet());
        }
        List<String> now = unseen.subList(0, Math.min(MOST_CHECKED, unseen.size()));
        unseen = unseen.subList(now.size(), unseen.size());
        if (open && !sealed) { // otherwise some have been moved to the version
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

    /** Makes the files read-only. No others are created from now on. */
    synchronized void seal() {
        lengths.keySet().forEach(this::requireAnnounced);
        sealed = true;
        folder.sealFiles(lengths.keySet());
    }

    /** Frees the memory of files that were not published, and releases the share of the quota. Idempotent. */
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
