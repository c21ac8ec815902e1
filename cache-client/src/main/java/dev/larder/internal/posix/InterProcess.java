package dev.larder.internal.posix;

/**
 * System calls for processes that share memory: locks that end with their owner, sleeping until another process has written,
 * and memory without a name.
 *
 * <p>Addresses, positions and lengths are in bytes. A failing call throws a {@link dev.larder.error.LarderException} that names it.
 * Thread-safe.
 */
public interface InterProcess {
    /** Returns the only implementation. Fails as {@link Posix#system} does. */
    static InterProcess system() {
        return JnaInterProcess.instance();
    }

    /**
     * Locks a range of a file, which need not exist there, for all users of this descriptor. The lock ends when the last copy
     * of the descriptor is closed, even if its process is killed. It is an open-file-description lock ({@code F_OFD_SETLK},
     * Linux 3.15).
     *
     * @param exclusive whether the lock excludes all others; the descriptor must then be open for writing, otherwise for
     *     reading
     * @return false if a lock of another descriptor conflicts
     */
    boolean tryLockRange(int descriptor, long position, long byteSize, boolean exclusive);

    /** Releases the lock of a range. */
    void unlockRange(int descriptor, long position, long byteSize);

    /** Returns whether another descriptor holds a lock on any part of a range. */
    boolean isRangeLocked(int descriptor, long position, long byteSize);

    /**
     * Sleeps until another thread of any process calls {@link #wake} for the same memory or the timeout expires. May also
     * return for no reason. Returns immediately if the four bytes there differ from {@code expected}. A futex in shared memory.
     *
     * @param address a multiple of 4 in mapped memory
     */
    void sleepWhile(long address, int expected, long timeoutNs);

    /** Wakes up to {@code count} threads that sleep at an address. Returns their number. */
    int wake(long address, int count);

    /**
     * Creates memory without a file name that lasts until the last process closes and unmaps it. All of it is reserved; fails with NO_SPACE
     * if that is not possible. The caller closes the descriptor.
     *
     * @param label a name for people, as in {@code /proc/PID/maps}
     */
    int makeMemory(String label, long byteSize);
}
