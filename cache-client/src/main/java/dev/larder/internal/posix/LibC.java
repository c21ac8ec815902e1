package dev.larder.internal.posix;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.util.Map;

/** The C functions in use, with their C names. Direct mapping with plain integers takes about 0.15 µs a call. */
@SuppressWarnings("checkstyle:MethodName")
final class LibC {
    static final int O_RDONLY = 0;
    static final int O_RDWR = 2;
    static final int O_CREAT = 0x40;
    static final int O_NOCTTY = 0x100;
    static final int O_NONBLOCK = 0x800;
    static final int O_NOFOLLOW = 0x20000;
    static final int O_CLOEXEC = 0x80000;

    static final int LOCK_SH = 1;
    static final int LOCK_EX = 2;
    static final int LOCK_NB = 4;
    static final int LOCK_UN = 8;

    static final int PROT_NONE = 0;
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;
    static final int MAP_SHARED = 1;
    static final int MAP_PRIVATE = 2;
    static final int MAP_FIXED = 0x10;
    static final int MAP_ANONYMOUS = 0x20;
    static final int MAP_NORESERVE = 0x4000;
    static final long MAP_FAILED = -1;

    static final int MADV_REMOVE = 9;
    static final int MADV_HUGEPAGE = 14;
    static final int MADV_NOHUGEPAGE = 15;
    static final int MADV_POPULATE_WRITE = 23;
    static final int MADV_COLLAPSE = 25;

    static final int SEEK_DATA = 3;

    static final int POSIX_FADV_RANDOM = 1;
    static final int POSIX_FADV_WILLNEED = 3;

    static final int RUSAGE_THREAD = 1;

    static final long SYS_SET_MEMPOLICY = 238;
    static final long SYS_SET_MEMPOLICY_ARM = 237;
    static final long SYS_GET_MEMPOLICY = 239;
    static final long SYS_GET_MEMPOLICY_ARM = 236;

    static final int AT_FDCWD = -100;
    static final int AT_SYMLINK_NOFOLLOW = 0x100;
    static final int AT_EMPTY_PATH = 0x1000;
    static final int STATX_BASIC_STATS = 0x7ff;

    static final int F_SETFD = 2;
    static final int FD_CLOEXEC = 1;
    static final int F_SETSIG = 10;
    static final int F_SETLEASE = 1024;
    static final int F_RDLCK = 0;
    static final int F_UNLCK = 2;
    static final int F_WRLCK = 1;
    static final int F_OFD_GETLK = 36;
    static final int F_OFD_SETLK = 37;
    static final int MFD_CLOEXEC = 1;

    static final long SYS_PIDFD_OPEN = 434;

    static final int FUTEX_WAIT = 0;
    static final int FUTEX_WAKE = 1;

    static final int SOL_SOCKET = 1;
    static final int SO_PEERCRED = 17;
    static final short POLLIN = 1;
    static final short POLLHUP = 16;
    static final int SO_PEERGROUPS = 59;
    static final long TIOCGWINSZ = 0x5413;

    static final int SIGINT = 2;
    static final int SIGPIPE = 13;
    static final int SIGURG = 23;
    static final int SIG_SETMASK = 2;
    static final long SIG_DFL = 0;
    static final long SIG_ERR = -1;

    static {
        Native.register(LibC.class, NativeLibrary.getInstance("c", Map.of(Library.OPTION_ALLOW_OBJECTS, false)));
    }

    private LibC() {}

    static native int open(byte[] path, int flags, int mode);

    static native int close(int descriptor);

    static native int flock(int descriptor, int operation);

    static native int statx(int directory, byte[] path, int flags, int mask, byte[] status);

    static native long mmap(long address, long length, int protection, int flags, int descriptor, long offset);

    static native int munmap(long address, long length);

    static native int madvise(long address, long length, int advice);

    static native int ftruncate(int descriptor, long length);

    static native long lseek(int descriptor, long offset, int whence);

    static native int fsync(int descriptor);

    static native int syncfs(int descriptor);

    static native long pread(int descriptor, long address, long length, long offset);

    static native long preadv(int descriptor, long vectors, int count, long offset);

    static native long pwrite(int descriptor, long address, long length, long offset);

    static native long syscall(long number, long mode, long[] mask, long maskBits);

    static native long syscall(long number, int[] mode, long[] mask, long maskBits, long address, long flags);

    static native long syscall(
            long number, long address, long operation, long value, long timeout, long address2, long value3);

    static native int posix_fadvise(int descriptor, long offset, long length, int advice);

    static native int getrusage(int who, byte[] usage);

    static native int memfd_create(byte[] name, int flags);

    static native int posix_fallocate(int descriptor, long offset, long length);

    static native int fcntl(int descriptor, int command, int argument);

    static native int fcntl(int descriptor, int command, byte[] lock);

    static native int fchmod(int descriptor, int mode);

    static native int getuid();

    static native int getegid();

    static native int getgroups(int count, int[] groups);

    static native int poll(int[] descriptors, long count, int timeoutMs);

    static native int getsockopt(int socket, int level, int option, int[] value, int[] byteSize);

    static native int setsid();

    static native long signal(int signal, long handler);

    static native int dup2(int from, int to);

    static native int isatty(int descriptor);

    static native int statfs(byte[] path, byte[] status);

    static native int statvfs(byte[] path, byte[] status);

    static native int setenv(byte[] name, byte[] value, int overwrite);

    static native int unsetenv(byte[] name);

    static native int sigprocmask(int how, byte[] set, long oldSet);

    static native int execvp(byte[] file, long arguments);

    static native int ioctl(int descriptor, long request, short[] argument);

    static native String strerror(int errno);
}
