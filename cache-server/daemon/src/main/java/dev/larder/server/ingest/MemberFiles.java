package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.Names;
import dev.larder.protocol.NewFilesRequest.NewFile;
import dev.larder.server.store.IncomingVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The files of an upload by a member of the group. The daemon makes them, so that it owns them and can seal, empty and remove them
 * whatever the member does; the member can open them, as only it is told where they are, but can put nothing else there. Thread-safe.
 */
final class MemberFiles {
    private static final long PAGE_BYTES = 4096;

    /** Looking at more at once would keep others waiting. */
    private static final int LOOKS = 2_000;

    private final IncomingVersion folder;
    private final GroupQuota quota;
    private final Map<String, Long> lengths = new LinkedHashMap<>();
    private final Map<String, String> told = new HashMap<>();
    private List<String> unseen = List.of();
    private long reservedBytes;
    private long promisedBytes;
    private boolean open = true;

    /** Sets the announced share of the quota aside. */
    MemberFiles(IncomingVersion folder, GroupQuota quota, long announcedBytes) {
        this.folder = folder;
        this.quota = quota;
        quota.reserve(announcedBytes);
        this.reservedBytes = announcedBytes;
    }

    /** Makes files, where the quota has room for them. */
    synchronized void make(List<NewFile> files) {
        if (!open) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no such build").remedy("ask to build it again");
        }
        long more = 0;
        for (NewFile file : files) {
            Names.requireArray(file.array());
            more = Math.addExact(more, storedBytes(file.byteSize()));
        }
        promise(more);
        for (NewFile file : files) {
            String path = path(file.array());
            folder.makeFileForMember(path);
            lengths.put(path, file.byteSize());
            if (!file.source().isEmpty()) {
                told.put(file.array(), file.source());
            }
        }
    }

    private void promise(long more) {
        long missing = Math.addExact(promisedBytes, more) - reservedBytes;
        if (missing > 0) {
            quota.reserve(missing);
            reservedBytes += missing;
        }
        promisedBytes += more;
    }

    /** An empty file takes memory too. */
    private static long storedBytes(long byteSize) {
        return Math.addExact(byteSize / PAGE_BYTES, 2) * PAGE_BYTES;
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
        if (open) {
            now.forEach(this::requireLength);
        }
    }

    private void requireLength(String file) {
        Path path = folder.folder().resolve(file);
        long announced = lengths.getOrDefault(file, 0L);
        try {
            long found = (long) Files.getAttribute(path, "size", LinkOption.NOFOLLOW_LINKS);
            if (found > announced) {
                throw Failure.of(ErrorCode.REFUSED, "a file is longer than was announced")
                        .with("dataset", folder.dataset())
                        .with("file", file)
                        .with("announced", announced)
                        .with("found", found)
                        .remedy("announce what is to be written");
            }
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot look at a file of an upload")
                    .with("file", path)
                    .with("reason", e)
                    .cause(e)
                    .exception();
        }
    }

    /** Lets nobody open the files for writing any more. */
    synchronized void seal() {
        lengths.keySet().forEach(this::requireLength);
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
