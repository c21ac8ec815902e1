package dev.larder.internal.posix;

import dev.larder.error.LarderException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * System calls that the JDK lacks: whole-file mappings, {@code flock}, reservations.
 *
 * <p>Addresses and lengths are in bytes. The opener of a descriptor owns it. A failing call throws a {@link LarderException}
 * that names the call, its arguments and the error. Thread-safe.
 */
public interface Posix {
    /** Returns the only implementation. Fails with a remedy if the native library or the platform is not supported. */
    static Posix system() {
        return JnaPosix.Holder.instance();
    }

    /**
     * Opens a file for reading, without following a link in its last component. Never blocks, not even for a pipe. The caller
     * closes the descriptor.
     */
    int openForReading(Path path);

    /** Opens a file for reading and writing, and creates it with {@code mode} if it is absent. The caller closes the descriptor. */
    int openOrCreate(Path path, int mode);

    /** Opens an existing file for reading and writing, without following a link. The caller closes the descriptor. */
    int openForWriting(Path path);

    /** Closes a descriptor. */
    void close(int descriptor);

    /** Returns the status of an open file. */
    FileStatus status(int descriptor);

    /** Returns the status of a file by path, following links. */
    FileStatus status(Path path);

    /** Returns the status of a path: of the link itself if it is one. */
    FileStatus statusOfLink(Path path);

    /**
     * Takes a shared lock that lasts until the last copy of the descriptor is closed. Returns false if another descriptor has
     * an exclusive lock.
     */
    boolean tryLockShared(int descriptor);

    /** Takes the exclusive lock, or converts a shared lock. Returns false if another descriptor has a lock. */
    boolean tryLockExclusive(int descriptor);

    /** Releases the lock of the descriptor. */
    void unlock(int descriptor);

    /**
     * Maps a range of a file read-only and shared, and returns the address. The offset is a multiple of
     * {@link PageSize#HUGE_BYTES}, and {@code byteSize} is above zero. From 2 MiB on, the address is aligned for huge pages.
     */
    long mapReadOnly(int descriptor, long offset, long byteSize);

    /**
     * Returns a buffer over mapped memory, in native byte order. Neither the buffer nor its slices keep the memory mapped; the
     * owner of the mapping does.
     */
    ByteBuffer bufferOver(long address, int byteSize);

    /**
     * Replaces a mapping with private pages of zeros, so that a late read returns zeros and does not crash. If they are
     * {@code writable}, late writes are safe as well and have no effect on the file.
     */
    void replaceWithZeros(long address, long byteSize, boolean writable);

    /** Returns the address of new zeroed memory outside any heap. The caller frees it with {@link #unmap}. */
    long allocate(long byteSize);

    /** Unmaps memory. Any later access kills the process. */
    void unmap(long address, long byteSize);

    /** Advises the kernel to use huge pages for a mapping. Returns false if it refuses. */
    boolean adviseHugePages(long address, long byteSize);

    /** Reserves space in a file, so that later writes cannot find the file system full. Steps are at most 64 MiB. */
    void reserve(int descriptor, long offset, long byteSize);

    /**
     * Returns whether any process, including this one, has a file of this user open or mapped for writing. The descriptor must
     * be open for reading only.
     */
    boolean hasWriters(int descriptor);

    /** Changes the permission bits of an open file. */
    void changeMode(int descriptor, int mode);

    /** Returns the user id of this process. */
    int userId();

    /** Returns all groups of this process, its primary group first. */
    List<Integer> groupIds();

    /** Returns the process at the other end of a connected Unix-domain socket, as the kernel recorded it when it connected. */
    PeerCredentials peer(int socket);

    /** Makes this process the leader of its own session, so that Ctrl-C of the terminal does not reach it. */
    void leaveTerminal();

    /**
     * Stops ignoring Ctrl-C if the parent set it to be ignored, as scripts do for commands that they start with {@code &}.
     * Takes effect with the next handler that is installed.
     */
    void acceptInterrupts();

    /**
     * Returns a descriptor of a process, which stays valid even if its id is reused. Returns {@link #NO_PROCESS} if there is no
     * such process, and {@link #NOT_SUPPORTED} if the kernel has no such descriptors (before Linux 5.3). The caller closes it.
     */
    int openProcess(long pid);

    /** The result of {@link #openProcess} if there is no such process. */
    int NO_PROCESS = -1;

    /** The result of {@link #openProcess} if the kernel does not support it. */
    int NOT_SUPPORTED = -2;

    /** Waits until the process of a descriptor has ended. Returns false after the timeout. */
    boolean awaitEnd(int process, Duration timeout);

    /**
     * Returns whether the other end of a connection is fully closed. The end of the input stream alone means only that the
     * other end will not write; it may still read.
     */
    boolean isHungUp(int socket);

    /** Connects standard input, output and error to {@code /dev/null}. */
    void silenceStandardStreams();

    /** Returns whether a descriptor is a terminal. */
    boolean isTerminal(int descriptor);

    /** Returns the capacity of the file system of a path. */
    FileSystemSpace space(Path path);

    /** Closes at {@code exec} all descriptors except the standard ones and these. JVMs leave theirs open. */
    void closeAtExecAllBut(Set<Integer> descriptors);

    /** Lets a program that replaces this process through {@code exec} inherit a descriptor and its lock. */
    void keepAcrossExec(int descriptor);

    /** Sets or removes an environment variable for a program that replaces this process. {@code System.getenv} does not see the change. */
    void changeEnvironment(String name, @Nullable String value);

    /**
     * Replaces this process with another program, found through {@code PATH}. Returns only on failure. The program has default
     * signal handling, as if a shell had started it. It inherits every descriptor that is not closed at {@code exec}. No
     * shutdown hook runs.
     *
     * @param words the program and its arguments, as bytes without a final zero
     */
    LarderException become(List<byte[]> words);

    /** Returns the size of the terminal, or null if the descriptor is not a terminal or does not report it. */
    @Nullable
    TerminalSize terminalSize(int descriptor);
}
