package dev.larder.internal.posix;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.File;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Calls the C library through JNA. */
final class JnaPosix implements Posix {
    private static final int EPERM = 1;
    private static final int ENOENT = 2;
    private static final int ESRCH = 3;
    private static final int EINTR = 4;
    private static final int EWOULDBLOCK = 11;
    private static final int ENOMEM = 12;
    private static final int EACCES = 13;
    private static final int EMFILE = 24;
    private static final int ENOSPC = 28;

    private static final int ERANGE = 34;
    private static final int ENOSYS = 38;
    private static final int ENOPROTOOPT = 92;
    private static final int USUAL_GROUPS = 64;

    private static final long RESERVE_STEP_BYTES = 64L << 20;
    private static final byte[] NO_PATH = new byte[1];
    private static final int STATX_LENGTH = 256;
    private static final int STATX_LINKS_OFFSET = 16;
    private static final int STATX_UID_OFFSET = 20;
    private static final int STATX_MODE_OFFSET = 28;
    private static final int STATX_INODE_OFFSET = 32;
    private static final int STATX_SIZE_OFFSET = 40;
    private static final int STATX_BLOCKS_OFFSET = 48;
    private static final int STATX_CHANGED_OFFSET = 96;
    private static final int STATX_MODIFIED_OFFSET = 112;
    private static final int STATX_DEVICE_MAJOR_OFFSET = 136;
    private static final int STATX_DEVICE_MINOR_OFFSET = 140;
    private static final int STATX_BLOCK_BYTES = 512;
    private static final int STATVFS_LENGTH = 256;
    private static final int STATVFS_BLOCK_OFFSET = 8;
    private static final int STATVFS_BLOCKS_OFFSET = 16;
    private static final int STATVFS_AVAILABLE_OFFSET = 32;
    private static final int STATVFS_FILES_OFFSET = 40;
    private static final int STATVFS_FREE_FILES_OFFSET = 48;
    private static final int SIGNAL_SET_LENGTH = 128;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final String LIBRARY_FOLDER = "jna.tmpdir";
    private static final String NATIVE_ACCESS = "start Java with --enable-native-access=ALL-UNNAMED; ";

    private JnaPosix() {}

    /** Loads the library once and stores a failure, so that every caller gets the same clear error. */
    static final class Holder {
        private static final @Nullable Posix INSTANCE;
        private static final @Nullable Throwable REFUSAL;

        static {
            Posix instance = null;
            Throwable refusal = null;
            try {
                keepOutOfTheWorkingFolder();
                LibC.getuid();
                instance = new JnaPosix();
            } catch (LinkageError | RuntimeException e) {
                refusal = e;
            }
            INSTANCE = instance;
            REFUSAL = refusal;
        }

        private Holder() {}

        /** Moves JNA's folder. A user without a passwd entry has the home "?", so JNA would create it in the working folder. */
        private static void keepOutOfTheWorkingFolder() {
            String cache = System.getenv("XDG_CACHE_HOME");
            boolean hasPlace =
                    Path.of(System.getProperty("user.home", "")).isAbsolute() || (cache != null && !cache.isBlank());
            if (!hasPlace && System.getProperty(LIBRARY_FOLDER) == null) {
                System.setProperty(LIBRARY_FOLDER, System.getProperty("java.io.tmpdir"));
            }
        }

        static Posix instance() {
            if (INSTANCE == null) {
                Throwable refusal = REFUSAL;
                Throwable reason = refusal;
                while (reason != null && reason.getCause() != null) {
                    reason = reason.getCause();
                }
                // JNA lets the JVM remove its library at the end, which has begun.
                if (refusal != null && reason instanceof IllegalStateException) {
                    throw Failure.of(ErrorCode.INTERRUPTED, "the JVM is ending")
                            .with("reason", reason)
                            .cause(refusal)
                            .exception();
                }
                Failure failure = Failure.of(ErrorCode.UNEXPECTED, "cannot reach the C library through JNA")
                        .with("os", System.getProperty("os.name"))
                        .with("arch", System.getProperty("os.arch"))
                        .with("jnaTmpdir", System.getProperty(LIBRARY_FOLDER, "unset"));
                if (refusal != null && reason != null) {
                    failure.with("reason", reason).cause(refusal);
                }
                throw failure.remedy((reason instanceof IllegalCallerException ? NATIVE_ACCESS : "")
                        + "Larder needs 64-bit Linux, glibc 2.28 or later, the jna jar on the class path, and"
                        + " a folder for its library, with room in it and not mounted noexec: -Djna.tmpdir=DIR, else"
                        + " JNA/temp in XDG_CACHE_HOME or ~/.cache, else java.io.tmpdir where that cannot be written");
            }
            return INSTANCE;
        }
    }

    @Override
    public int openForReading(Path path) {
        return open(path, LibC.O_RDONLY | LibC.O_NONBLOCK | LibC.O_NOCTTY | LibC.O_NOFOLLOW | LibC.O_CLOEXEC, 0);
    }

    @Override
    public int openOrCreate(Path path, int mode) {
        return open(path, LibC.O_RDWR | LibC.O_CREAT | LibC.O_NOFOLLOW | LibC.O_CLOEXEC, mode);
    }

    @Override
    public int openForWriting(Path path) {
        return open(path, LibC.O_RDWR | LibC.O_NONBLOCK | LibC.O_NOCTTY | LibC.O_NOFOLLOW | LibC.O_CLOEXEC, 0);
    }

    static int open(Path path, int flags, int mode) {
        int descriptor = LibC.open(cString(path), flags, mode);
        if (descriptor < 0) {
            throw failed("open").with("file", path).exception();
        }
        return descriptor;
    }

    @Override
    public void close(int descriptor) {
        if (LibC.close(descriptor) < 0 && Native.getLastError() != EINTR) {
            throw failed("close").with("descriptor", descriptor).exception();
        }
    }

    @Override
    public FileStatus status(int descriptor) {
        byte[] status = new byte[STATX_LENGTH];
        if (LibC.statx(descriptor, NO_PATH, LibC.AT_EMPTY_PATH, LibC.STATX_BASIC_STATS, status) < 0) {
            throw failed("statx").with("descriptor", descriptor).exception();
        }
        return decoded(status);
    }

    @Override
    public FileStatus status(Path path) {
        return status(path, 0);
    }

    @Override
    public FileStatus statusOfLink(Path path) {
        return status(path, LibC.AT_SYMLINK_NOFOLLOW);
    }

    private static FileStatus status(Path path, int flags) {
        byte[] status = new byte[STATX_LENGTH];
        if (LibC.statx(LibC.AT_FDCWD, cString(path), flags, LibC.STATX_BASIC_STATS, status) < 0) {
            throw failed("statx").with("file", path).exception();
        }
        return decoded(status);
    }

    private static FileStatus decoded(byte[] status) {
        ByteBuffer fields = ByteBuffer.wrap(status).order(ByteOrder.nativeOrder());
        return new FileStatus(
                fields.getInt(STATX_DEVICE_MAJOR_OFFSET),
                fields.getInt(STATX_DEVICE_MINOR_OFFSET),
                fields.getLong(STATX_INODE_OFFSET),
                fields.getInt(STATX_LINKS_OFFSET),
                fields.getInt(STATX_UID_OFFSET),
                fields.getShort(STATX_MODE_OFFSET) & 0xffff,
                fields.getLong(STATX_SIZE_OFFSET),
                fields.getLong(STATX_BLOCKS_OFFSET) * STATX_BLOCK_BYTES,
                nanos(fields, STATX_MODIFIED_OFFSET),
                nanos(fields, STATX_CHANGED_OFFSET));
    }

    private static long nanos(ByteBuffer status, int offset) {
        return status.getLong(offset) * NANOS_PER_SECOND + status.getInt(offset + Long.BYTES);
    }

    @Override
    public boolean tryLockShared(int descriptor) {
        return lock(descriptor, LibC.LOCK_SH | LibC.LOCK_NB);
    }

    @Override
    public boolean tryLockExclusive(int descriptor) {
        return lock(descriptor, LibC.LOCK_EX | LibC.LOCK_NB);
    }

    @Override
    public void unlock(int descriptor) {
        lock(descriptor, LibC.LOCK_UN);
    }

    private static boolean lock(int descriptor, int operation) {
        while (LibC.flock(descriptor, operation) < 0) {
            int errno = Native.getLastError();
            if (errno == EWOULDBLOCK) {
                return false;
            }
            if (errno != EINTR) {
                throw failed("flock").with("descriptor", descriptor).exception();
            }
        }
        return true;
    }

    @Override
    public long mapReadOnly(int descriptor, long offset, long byteSize) {
        long address = AlignedMapping.map(descriptor, offset, byteSize, LibC.PROT_READ);
        if (address == LibC.MAP_FAILED) {
            throw failed("mmap")
                    .with("descriptor", descriptor)
                    .with("bytes", byteSize)
                    .remedy("if memory is left, raise vm.max_map_count and ulimit -v");
        }
        return address;
    }

    @Override
    public ByteBuffer bufferOver(long address, int byteSize) {
        return new Pointer(address).getByteBuffer(0, byteSize);
    }

    @Override
    public void replaceWithZeros(long address, long byteSize, boolean writable) {
        int protection = writable ? LibC.PROT_READ | LibC.PROT_WRITE : LibC.PROT_READ;
        int flags = LibC.MAP_PRIVATE | LibC.MAP_ANONYMOUS | LibC.MAP_FIXED | LibC.MAP_NORESERVE;
        if (LibC.mmap(address, byteSize, protection, flags, -1, 0) == LibC.MAP_FAILED) {
            throw failed("mmap over closed memory").with("bytes", byteSize).exception();
        }
    }

    @Override
    public long allocate(long byteSize) {
        int flags = LibC.MAP_PRIVATE | LibC.MAP_ANONYMOUS | LibC.MAP_NORESERVE;
        long address = LibC.mmap(0, byteSize, LibC.PROT_READ | LibC.PROT_WRITE, flags, -1, 0);
        if (address == LibC.MAP_FAILED) {
            throw failed("mmap of new memory").with("bytes", byteSize).exception();
        }
        return address;
    }

    @Override
    public void unmap(long address, long byteSize) {
        if (LibC.munmap(address, byteSize) < 0) {
            throw failed("munmap").with("bytes", byteSize).exception();
        }
    }

    @Override
    public boolean adviseHugePages(long address, long byteSize) {
        return LibC.madvise(address, byteSize, LibC.MADV_HUGEPAGE) == 0;
    }

    @Override
    public void reserve(int descriptor, long offset, long byteSize) {
        long end = offset + byteSize;
        for (long at = offset; at < end; ) {
            long step = Math.min(RESERVE_STEP_BYTES, end - at);
            int errno = LibC.posix_fallocate(descriptor, at, step);
            if (errno == 0) {
                at += step;
            } else if (errno != EINTR) {
                throw failed("posix_fallocate", errno)
                        .with("offset", at)
                        .with("bytes", step)
                        .exception();
            }
        }
    }

    /**
     * Requests a read lease, which the kernel grants only if there is no writer. Breaking it must not raise SIGIO, which would
     * end the process.
     */
    @Override
    public boolean hasWriters(int descriptor) {
        if (LibC.fcntl(descriptor, LibC.F_SETSIG, LibC.SIGURG) < 0) {
            throw failed("fcntl").with("descriptor", descriptor).exception();
        }
        if (LibC.fcntl(descriptor, LibC.F_SETLEASE, LibC.F_RDLCK) < 0) {
            if (Native.getLastError() == EWOULDBLOCK) {
                return true;
            }
            throw failed("fcntl").with("descriptor", descriptor).exception();
        }
        LibC.fcntl(descriptor, LibC.F_SETLEASE, LibC.F_UNLCK);
        return false;
    }

    @Override
    public void changeMode(int descriptor, int mode) {
        if (LibC.fchmod(descriptor, mode) < 0) {
            throw failed("fchmod").with("descriptor", descriptor).exception();
        }
    }

    @Override
    public int openProcess(long pid) {
        int descriptor = (int) LibC.syscall(LibC.SYS_PIDFD_OPEN, pid, 0, 0, 0, 0, 0);
        if (descriptor >= 0) {
            return descriptor;
        }
        return switch (Native.getLastError()) {
            case ESRCH -> NO_PROCESS;
            case ENOSYS -> NOT_SUPPORTED;
            default -> throw failed("pidfd_open").with("pid", pid).exception();
        };
    }

    @Override
    public boolean awaitEnd(int process, Duration timeout) {
        Deadline deadline = Deadline.after(timeout);
        while (true) {
            long leftMs = deadline.isOver() ? 0 : deadline.remainingMillis();
            int[] poll = {process, LibC.POLLIN}; // struct pollfd
            int ready = LibC.poll(poll, 1, (int) Math.max(0, Math.min(leftMs, Integer.MAX_VALUE)));
            if (ready < 0 && Native.getLastError() != EINTR) {
                throw failed("poll").with("descriptor", process).exception();
            } else if (ready > 0 || leftMs <= 0) {
                return ready > 0;
            }
        }
    }

    @Override
    public boolean isHungUp(int socket) {
        int[] poll = {socket, 0}; // struct pollfd: int fd; short events; short revents
        return LibC.poll(poll, 1, 0) > 0 && (poll[1] >>> Short.SIZE & LibC.POLLHUP) != 0;
    }

    @Override
    public int userId() {
        return LibC.getuid();
    }

    @Override
    public List<Integer> groupIds() {
        int[] supplementary = new int[LibC.getgroups(0, new int[0])];
        int count = LibC.getgroups(supplementary.length, supplementary);
        if (count < 0) {
            throw failed("getgroups").exception();
        }
        return IntStream.concat(IntStream.of(LibC.getegid()), Arrays.stream(supplementary, 0, count))
                .distinct()
                .boxed()
                .toList();
    }

    @Override
    public PeerCredentials peer(int socket) {
        int[] credentials = option(socket, LibC.SO_PEERCRED, 3); // struct ucred: pid, uid, gid
        int[] supplementary = peerGroups(socket);
        Set<Integer> groups = IntStream.concat(IntStream.of(credentials[2]), Arrays.stream(supplementary))
                .boxed()
                .collect(Collectors.toSet());
        return new PeerCredentials(credentials[0], credentials[1], groups);
    }

    /** Returns the groups of the peer. Kernels before 4.13, and some sandboxes, report only the first. */
    private static int[] peerGroups(int socket) {
        int[] byteSize = {0};
        boolean isKnown = LibC.getsockopt(socket, LibC.SOL_SOCKET, LibC.SO_PEERGROUPS, new int[0], byteSize) == 0
                || Native.getLastError() != ENOPROTOOPT;
        return isKnown ? option(socket, LibC.SO_PEERGROUPS, USUAL_GROUPS) : new int[0];
    }

    /** Reads a socket option with integer values. If there are more than usual, the kernel reports the length. */
    private static int[] option(int socket, int option, int usualLength) {
        int[] value = new int[usualLength];
        int[] byteSize = {value.length * Integer.BYTES};
        while (LibC.getsockopt(socket, LibC.SOL_SOCKET, option, value, byteSize) < 0) {
            if (Native.getLastError() != ERANGE || byteSize[0] <= value.length * Integer.BYTES) {
                throw failed("getsockopt")
                        .with("socket", socket)
                        .with("option", option)
                        .exception();
            }
            value = new int[byteSize[0] / Integer.BYTES];
        }
        return Arrays.copyOf(value, byteSize[0] / Integer.BYTES);
    }

    @Override
    public void leaveTerminal() {
        if (LibC.setsid() < 0) {
            throw failed("setsid").exception();
        }
    }

    @Override
    public void acceptInterrupts() {
        if (LibC.signal(LibC.SIGINT, LibC.SIG_DFL) == LibC.SIG_ERR) {
            throw failed("signal").with("signal", LibC.SIGINT).exception();
        }
    }

    @Override
    public void silenceStandardStreams() {
        int descriptor = open(Path.of("/dev/null"), LibC.O_RDWR | LibC.O_CLOEXEC, 0);
        for (int stream = 0; stream <= 2; stream++) {
            if (LibC.dup2(descriptor, stream) < 0) {
                throw failed("dup2").with("descriptor", stream).exception();
            }
        }
        close(descriptor);
    }

    @Override
    public boolean isTerminal(int descriptor) {
        return LibC.isatty(descriptor) == 1;
    }

    @Override
    public FileSystemSpace space(Path path) {
        byte[] status = new byte[STATVFS_LENGTH];
        if (LibC.statvfs(cString(path), status) < 0) {
            throw failed("statvfs").with("path", path).exception();
        }
        ByteBuffer fields = ByteBuffer.wrap(status).order(ByteOrder.nativeOrder());
        long blockBytes = fields.getLong(STATVFS_BLOCK_OFFSET);
        return new FileSystemSpace(
                fields.getLong(STATVFS_BLOCKS_OFFSET) * blockBytes,
                fields.getLong(STATVFS_AVAILABLE_OFFSET) * blockBytes,
                fields.getLong(STATVFS_FILES_OFFSET),
                fields.getLong(STATVFS_FREE_FILES_OFFSET));
    }

    @Override
    public void closeAtExecAllBut(Set<Integer> descriptors) {
        String[] open = new File("/proc/self/fd").list();
        if (open == null) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot list this process's descriptors")
                    .with("folder", "/proc/self/fd")
                    .remedy("mount /proc");
        }
        for (String name : open) {
            int descriptor = Integer.parseInt(name);
            // The list contains the descriptor that read it, which is closed by now and cannot be changed.
            if (descriptor > 2 && !descriptors.contains(descriptor)) {
                LibC.fcntl(descriptor, LibC.F_SETFD, LibC.FD_CLOEXEC);
            }
        }
    }

    @Override
    public void keepAcrossExec(int descriptor) {
        if (LibC.fcntl(descriptor, LibC.F_SETFD, 0) < 0) {
            throw failed("fcntl").with("descriptor", descriptor).exception();
        }
    }

    @Override
    public void changeEnvironment(String name, @Nullable String value) {
        int result = value == null ? LibC.unsetenv(cString(name)) : LibC.setenv(cString(name), cString(value), 1);
        if (result < 0) {
            throw failed("setenv").with("name", name).exception();
        }
    }

    @Override
    public LarderException become(List<byte[]> words) {
        List<Memory> strings = new ArrayList<>();
        Memory arguments = new Memory((long) (words.size() + 1) * Long.BYTES);
        for (byte[] word : words) {
            Memory string = new Memory(word.length + 1L);
            string.write(0, word, 0, word.length);
            string.setByte(word.length, (byte) 0);
            arguments.setPointer((long) strings.size() * Long.BYTES, string);
            strings.add(string);
        }
        arguments.setLong((long) strings.size() * Long.BYTES, 0);
        LibC.signal(LibC.SIGINT, LibC.SIG_DFL);
        LibC.signal(LibC.SIGPIPE, LibC.SIG_DFL);
        LibC.sigprocmask(LibC.SIG_SETMASK, new byte[SIGNAL_SET_LENGTH], 0);
        byte[] program = words.get(0);
        try {
            LibC.execvp(Arrays.copyOf(program, program.length + 1), Pointer.nativeValue(arguments));
            return failed("execvp")
                    .with("program", new String(program, StandardCharsets.UTF_8))
                    .exception();
        } finally {
            Reference.reachabilityFence(strings);
            Reference.reachabilityFence(arguments);
        }
    }

    @Override
    public @Nullable TerminalSize terminalSize(int descriptor) {
        short[] size = new short[4]; // rows, columns, and two unused values
        boolean isKnown = LibC.ioctl(descriptor, LibC.TIOCGWINSZ, size) == 0 && size[0] > 0 && size[1] > 0;
        return isKnown ? new TerminalSize(size[1], size[0]) : null;
    }

    static byte[] cString(Path path) {
        return cString(path.toString());
    }

    static byte[] cString(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return Arrays.copyOf(bytes, bytes.length + 1);
    }

    static Failure failed(String call) {
        return failed(call, Native.getLastError());
    }

    static Failure failed(String call, int errno) {
        return Failure.of(codeOf(errno), call + " failed").with("errno", errno).with("reason", reason(errno));
    }

    private static String reason(int errno) {
        return LibC.strerror(errno);
    }

    private static ErrorCode codeOf(int errno) {
        return switch (errno) {
            case ENOENT -> ErrorCode.NOT_FOUND;
            case EPERM, EACCES -> ErrorCode.REFUSED;
            case ENOMEM, ENOSPC, EMFILE -> ErrorCode.NO_SPACE;
            default -> ErrorCode.UNEXPECTED;
        };
    }
}
