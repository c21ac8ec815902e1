package dev.larder.internal;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import java.util.function.LongConsumer;

/**
 * The space that a build has in the store. It is requested before data is written, so that the daemon can evict datasets.
 * Requests include a reserve, because many small arrays would otherwise need a request each. Not thread-safe.
 */
final class BuildRoom {
    private static final int AHEAD_SHARE = 8;
    private static final long MOST_AHEAD_BYTES = 16L << 20;

    private final LongConsumer makeRoom;
    private long unitBytes = PageSize.BYTES;
    private long grantedBytes;
    private long takenBytes;

    /** Starts with the space already granted. {@code makeRoom} requests a total number of bytes from the daemon. */
    BuildRoom(LongConsumer makeRoom, long grantedBytes) {
        this.makeRoom = makeRoom;
        this.grantedBytes = grantedBytes;
    }

    /** Takes space for a file. Fails with NO_SPACE if eviction cannot free enough. */
    void take(long fileBytes) {
        long neededBytes = ByteSums.add(takenBytes, ByteSums.roundUp(fileBytes, unitBytes));
        if (neededBytes > grantedBytes) {
            request(neededBytes);
        }
        takenBytes = neededBytes;
    }

    /** Corrects the space taken for a file. If pages are huge, even a short file occupies a whole one. */
    void note(long fileBytes, long storedBytes) {
        long expected = ByteSums.roundUp(fileBytes, unitBytes);
        if (storedBytes > expected && storedBytes == ByteSums.roundUp(fileBytes, PageSize.hugeBytes())) {
            unitBytes = PageSize.hugeBytes();
            takenBytes = ByteSums.add(takenBytes, storedBytes - expected);
        }
    }

    private void request(long neededBytes) {
        long ahead = Math.min(neededBytes / AHEAD_SHARE, MOST_AHEAD_BYTES);
        try {
            grant(ByteSums.add(neededBytes, ahead));
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE) {
                throw e;
            }
            grant(neededBytes); // without the reserve, which may exceed the free space
        }
    }

    private void grant(long bytes) {
        makeRoom.accept(bytes);
        grantedBytes = bytes;
    }
}
