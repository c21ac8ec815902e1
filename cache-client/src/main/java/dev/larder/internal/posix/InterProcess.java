package dev.larder.internal.posix;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * System calls for processes that share memory: locks that end with their owner, sleeping until another process has written,
 * memory without a name, and passing descriptors.
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
     * Creates memory without a file name that lasts until the last process closes and unmaps it. Its length can never change.
     * All of it is reserved; fails with NO_SPACE if that is not possible. The caller closes the descriptor.
     *
     * @param label a name for people, as in {@code /proc/PID/maps}
     */
    int makeSealedMemory(String label, long byteSize);

    /** Listens at a new Unix-domain socket. Only its owner can connect. The caller closes the descriptor. */
    int listen(Path socket);

    /** Accepts the next connection. Returns -1 after the timeout. The caller closes the descriptor. */
    int accept(int listener, Duration timeout);

    /** Connects to a Unix-domain socket. Calls on the connection fail after {@code timeout}. The caller closes the descriptor. */
    int connect(Path socket, Duration timeout);

    /** Limits the duration of calls on a connection. */
    void limitWaits(int connection, Duration timeout);

    /** Sends a number, and a copy of a descriptor unless it is null. Never raises a signal. */
    void send(int connection, long number, int @Nullable [] descriptor);

    /** Receives a message of {@link #send}. Returns null if the other side has closed the connection or after the timeout. */
    @Nullable
    Received receive(int connection);

    /**
     * A message.
     *
     * @param descriptor a descriptor that the receiver closes; -1 if there is none
     */
    record Received(long number, int descriptor) {}
}
