package dev.larder.schedules;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Lets Fray switch threads where it sees nothing of theirs: {@link ScheduledClasses} puts a call before each access to such a thing. Accesses to
 * the same thing race.
 */
public final class Points {
    /** The file system. */
    static final int FILES = 0;

    private static final int MOST = 64;

    private static final AtomicLong[] THINGS =
            Stream.generate(AtomicLong::new).limit(MOST).toArray(AtomicLong[]::new);

    private Points() {}

    /** Comes before each access to a thing. */
    public static void touch(int thing) {
        THINGS[thing].incrementAndGet();
    }
}
