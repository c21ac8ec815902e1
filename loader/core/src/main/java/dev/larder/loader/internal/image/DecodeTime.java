package dev.larder.loader.internal.image;

/** The time that a thread has spent decoding images, without the steps after it. Each thread has its own. */
public final class DecodeTime {
    private static final ThreadLocal<DecodeTime> OF_THREAD = ThreadLocal.withInitial(DecodeTime::new);

    private long nanos;

    private DecodeTime() {}

    static void add(long nanos) {
        OF_THREAD.get().nanos += nanos;
    }

    /** Returns the time of the calling thread, in nanoseconds. */
    public static long nanos() {
        return OF_THREAD.get().nanos;
    }
}
