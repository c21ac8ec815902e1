package dev.larder.internal.posix;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What processes that share memory ask of the operating system: locks that go with whoever holds them, sleeping until another process
 * has written, memory without a name, and handing over what is open.
 *
 * <p>Addresses, positions and lengths are bytes. A failing call throws a {@link dev.larder.error.LarderException} that names it.
 * Thread-safe.
 */
public interface InterProcess {
    /** Returns the one implementation; fails as {@link Posix#system} does. */
    static InterProcess system() {
        return JnaInterProcess.instance();
    }

    /**
     * Takes the lock of a range of a file, which need not exist there, for everybody who holds this very descriptor; it ends when the
     * last copy is closed, however their processes end. An open-file-description lock ({@code F_OFD_SETLK}, Linux 3.15).
     *
     * @param exclusive whether nobody else may hold any part; the descriptor has to be open for writing then, else for reading
     * @return false where another descriptor holds a part of it in a way that excludes this
     */
    boolean tryLockRange(int descriptor, long position, long byteSize, boolean exclusive);

    /** Gives up the lock of a range. */
    void unlockRange(int descriptor, long position, long byteSize);

    /** Tells whether anybody holds a lock of any part of a range through another descriptor. */
    boolean isRangeLocked(int descriptor, long position, long byteSize);

    /**
     * Sleeps until another thread, of any process, calls {@link #wake} for the same memory; or until time is up, or for no reason at
     * all. Returns at once where the four bytes there are not what is expected. A futex of memory that processes share.
     *
     * @param address a multiple of 4 in mapped memory
     */
    void sleepWhile(long address, int expected, long timeoutNs);

    /** Wakes up to so many of those who sleep at an address, and returns how many. */
    int wake(long address, int count);

    /**
     * Makes memory that has no name in any folder and goes with the last process that has it open or mapped; its length can never be
     * changed, by nobody. All of it is reserved: NO_SPACE where that is not possible. The caller closes the descriptor.
     *
     * @param label for people, as {@code /proc/PID/maps} shows it
     */
    int makeSealedMemory(String label, long byteSize);

    /** Opens what a descriptor of this process leads to once more: locks of the two are apart. The caller closes both. */
    int reopen(int descriptor);

    /** Listens at a Unix-domain socket that is not there yet; only its owner can connect. The caller closes the descriptor. */
    int listen(Path socket);

    /** Takes the next connection; -1 where none came in time. The caller closes the descriptor. */
    int accept(int listener, Duration timeout);

    /** Connects to a Unix-domain socket, whose calls then end after {@code timeout}. The caller closes the descriptor. */
    int connect(Path socket, Duration timeout);

    /** Lets calls on a connection end after so long. */
    void limitWaits(int connection, Duration timeout);

    /** Sends a number, and a copy of a descriptor where one is given. Never raises a signal. */
    void send(int connection, long number, int @Nullable [] descriptor);

    /** Receives what {@link #send} has sent; null where the other side has closed, or time was up. */
    @Nullable
    Received receive(int connection);

    /**
     * A message.
     *
     * @param descriptor which the receiver closes; -1 where none came
     */
    record Received(long number, int descriptor) {}
}
