package dev.larder.internal.posix;

import dev.larder.error.LarderException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What Larder asks of the operating system beyond the JDK: whole-file mappings, {@code flock}s, reservations.
 *
 * <p>Addresses and lengths are bytes. Descriptors are owned by whoever opened them. Every failing call throws a
 * {@link LarderException} that names the call, its arguments and the error. Thread-safe.
 */
public interface Posix {
    /** Returns the one implementation; fails with the remedy where the native library or the platform is missing. */
    static Posix system() {
        return JnaPosix.Holder.instance();
    }

    /**
     * Opens a file for reading, without following a link in its last component, and returns at once even where it is a pipe. The
     * caller closes the descriptor.
     */
    int openForReading(Path path);

    /** Opens a file for reading and writing and creates it with {@code mode} if it is absent. The caller closes the descriptor. */
    int openOrCreate(Path path, int mode);

    /** Opens a file that is there for reading and writing, without following a link. The caller closes the descriptor. */
    int openForWriting(Path path);

    /** Closes a descriptor. */
    void close(int descriptor);

    /** Returns what the kernel knows of an open file. */
    FileStatus status(int descriptor);

    /** Returns what the kernel knows of a file that need not be open, through links. */
    FileStatus status(Path path);

    /** Takes a shared lock that lasts until the last copy of the descriptor is closed; false where an exclusive one is held. */
    boolean tryLockShared(int descriptor);

    /** Takes the exclusive lock, or turns a shared one into it; false where anybody else holds one. */
    boolean tryLockExclusive(int descriptor);

    /** Gives up whatever lock the descriptor holds. */
    void unlock(int descriptor);

    /**
     * Maps a stretch of a file read-only and shared, and returns the address. It begins at a multiple of {@link PageSize#HUGE_BYTES},
     * and {@code byteSize} is above zero. From 2 MiB on the address is such a multiple, too, which is what huge pages need.
     */
    long mapReadOnly(int descriptor, long offset, long byteSize);

    /**
     * Returns a buffer over mapped memory, in native byte order. The buffer and what is sliced from it keep nothing
     * mapped: the owner of the mapping sees to that.
     */
    ByteBuffer bufferOver(long address, int byteSize);

    /**
     * Puts private pages of zeros in place of a mapping: a thread that reads too late reads zeros and lives. One that
     * writes too late lives too where they are {@code writable}, and its writes reach nobody.
     */
    void replaceWithZeros(long address, long byteSize, boolean writable);

    /** Returns the address of new memory, all zeros, outside of any heap. The caller ends it with {@link #unmap}. */
    long allocate(long byteSize);

    /** Ends a mapping: any later access kills the process. */
    void unmap(long address, long byteSize);

    /** Asks the kernel to back a mapping with huge pages where it can; false where it refuses. */
    boolean adviseHugePages(long address, long byteSize);

    /** Reserves space in a file, so that a later write cannot find the file system full. Steps stay at or below 64 MiB. */
    void reserve(int descriptor, long offset, long byteSize);

    /**
     * Tells whether anybody, this process included, has a file of this user open or mapped for writing. The descriptor is open
     * for reading only.
     */
    boolean hasWriters(int descriptor);

    /** Changes the permission bits of an open file. */
    void changeMode(int descriptor, int mode);

    /** Returns the user id of this process. */
    int userId();

    /** Returns the group id of this process. */
    int groupId();

    /** Returns every group that this process acts for, its own first. */
    List<Integer> groupIds();

    /** Returns who is at the other end of a connected Unix-domain socket, as the kernel noted when it was connected. */
    PeerCredentials peer(int socket);

    /** Makes this process the leader of a session of its own, out of reach of the terminal's Ctrl-C. */
    void leaveTerminal();

    /**
     * Lets Ctrl-C through where whoever started this process had it ignored, as scripts do with what they start with
     * {@code &}. Takes effect with the next handler that is installed for it.
     */
    void acceptInterrupts();

    /**
     * Returns a descriptor of a process of this machine, which means that process even when its id is given to another; {@link #NO_PROCESS} if
     * there is no such process, {@link #NOT_SUPPORTED} if the kernel has no such descriptors (before Linux 5.3). The caller closes it.
     */
    int openProcess(long pid);

    /** Returned in place of a descriptor if there is no such process. */
    int NO_PROCESS = -1;

    /** Returned in place of a descriptor if the kernel cannot make one. */
    int NOT_SUPPORTED = -2;

    /** Waits until the process of a descriptor has ended; false where it has not within this time. */
    boolean awaitEnd(int process, Duration timeout);

    /**
     * Returns whether the other end of a connection is closed, not only for writing. A stream that has ended says that the other end will
     * write no more; it may still read.
     */
    boolean isHungUp(int socket);

    /** Connects standard input, output and error to {@code /dev/null}. */
    void silenceStandardStreams();

    /** Tells whether a descriptor is a terminal. */
    boolean isTerminal(int descriptor);

    /** Returns what the file system that a path lies on has and has left. */
    FileSystemSpace space(Path path);

    /** Keeps from programs that this process becomes all descriptors but the standard ones and these: JVMs leave theirs open. */
    void closeAtExecAllBut(Set<Integer> descriptors);

    /** Lets programs that this process becomes have a descriptor, and whatever lock is on it. */
    void keepAcrossExec(int descriptor);

    /** Sets a variable for programs that this process becomes, or removes it; {@code System.getenv} does not see it. */
    void changeEnvironment(String name, @Nullable String value);

    /**
     * Becomes another program, found as shells find it: returns only by failing. Its signals are as they are for a program
     * that a shell starts, whatever this JVM or its parent did to them. It gets every descriptor
     * that nothing keeps from it; no shutdown hook runs.
     *
     * @param words the program and its arguments, as bytes without a final zero
     */
    LarderException become(List<byte[]> words);

    /** Returns how large the terminal is; null where the descriptor is none, or does not know. */
    @Nullable
    TerminalSize terminalSize(int descriptor);
}
