package dev.larder.internal;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import java.util.function.LongConsumer;

/**
 * The space that a build has in the store. It is asked for before it is written, so that what may leave makes room; a little more
 * than is needed, as many small arrays would have to ask for each otherwise. Used by one thread at a time.
 */
final class BuildRoom {
    private static final int AHEAD_SHARE = 8;
    private static final long MOST_AHEAD_BYTES = 16L << 20;

    private final LongConsumer makeRoom;
    private long unitBytes = PageSize.BYTES;
    private long grantedBytes;
    private long takenBytes;

    /** Starts with what was set aside already; {@code makeRoom} asks the daemon for so much in all. */
    BuildRoom(LongConsumer makeRoom, long grantedBytes) {
        this.makeRoom = makeRoom;
        this.grantedBytes = grantedBytes;
    }

    /** Takes space for a file; fails with NO_SPACE where there is none even after everything has left that may. */
    void take(long fileBytes) {
        long wanted = ByteSums.add(takenBytes, ByteSums.roundUp(fileBytes, unitBytes));
        if (wanted > grantedBytes) {
            ask(wanted);
        }
        takenBytes = wanted;
    }

    /** Learns what a file really occupies: where pages are huge, short files take whole ones. */
    void note(long fileBytes, long storedBytes) {
        long expected = ByteSums.roundUp(fileBytes, unitBytes);
        if (storedBytes > expected && storedBytes == ByteSums.roundUp(fileBytes, PageSize.HUGE_BYTES)) {
            unitBytes = PageSize.HUGE_BYTES;
            takenBytes = ByteSums.add(takenBytes, storedBytes - expected);
        }
    }

    private void ask(long wanted) {
        long ahead = Math.min(wanted / AHEAD_SHARE, MOST_AHEAD_BYTES);
        try {
            grant(ByteSums.add(wanted, ahead));
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE) {
                throw e;
            }
            grant(wanted); // what is not needed yet may be too much
        }
    }

    private void grant(long bytes) {
        makeRoom.accept(bytes);
        grantedBytes = bytes;
    }
}
