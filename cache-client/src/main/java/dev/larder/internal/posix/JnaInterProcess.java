package dev.larder.internal.posix;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Calls the C library through JNA, and the kernel directly if the library lacks a function. */
final class JnaInterProcess implements InterProcess {
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;
    private static final int EACCES = 13;
    private static final int ETIMEDOUT = 110;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    // struct flock
    private static final int LOCK_TYPE_OFFSET = 0;
    private static final int LOCK_START_OFFSET = 8;
    private static final int LOCK_LENGTH_OFFSET = 16;
    private static final int LOCK_LENGTH = 32;

    /** The kernel's number of the futex call, for which the C library has no function. */
    private final long futex = futexNumber();

    /** The memory for the timeout of a sleep, to avoid an allocation for each. */
    private final ThreadLocal<Time> times = ThreadLocal.withInitial(Time::new);

    private JnaInterProcess() {}

    private static final class Holder {
        private static final InterProcess INSTANCE = new JnaInterProcess();
    }

    /** Initializes {@link Posix} first, because it reports a missing library with its remedy. */
    static InterProcess instance() {
        Posix.system();
        return Holder.INSTANCE;
    }

    private static long futexNumber() {
        return switch (System.getProperty("os.arch", "")) {
            case "amd64", "x86_64" -> 202;
            case "aarch64" -> 98;
            default ->
                throw Failure.of(ErrorCode.UNEXPECTED, "waiting on shared memory is not supported here")
                        .with("arch", System.getProperty("os.arch"))
                        .remedy("use an amd64 or aarch64 machine");
        };
    }

    @Override
    public boolean tryLockRange(int descriptor, long position, long byteSize, boolean exclusive) {
        byte[] lock = range(exclusive ? LibC.F_WRLCK : LibC.F_RDLCK, position, byteSize);
        while (LibC.fcntl(descriptor, LibC.F_OFD_SETLK, lock) < 0) {
            int errno = Native.getLastError();
            if (errno == EAGAIN || errno == EACCES) {
                return false;
            }
            if (errno != EINTR) {
                throw lockFailed(errno, descriptor, position, byteSize);
            }
        }
        return true;
    }

    @Override
    public void unlockRange(int descriptor, long position, long byteSize) {
        byte[] lock = range(LibC.F_UNLCK, position, byteSize);
        if (LibC.fcntl(descriptor, LibC.F_OFD_SETLK, lock) < 0) {
            throw lockFailed(Native.getLastError(), descriptor, position, byteSize);
        }
    }

    @Override
    public boolean isRangeLocked(int descriptor, long position, long byteSize) {
        byte[] lock = range(LibC.F_WRLCK, position, byteSize);
        if (LibC.fcntl(descriptor, LibC.F_OFD_GETLK, lock) < 0) {
            throw lockFailed(Native.getLastError(), descriptor, position, byteSize);
        }
        return lock[LOCK_TYPE_OFFSET] != LibC.F_UNLCK;
    }

    private static byte[] range(int type, long position, long byteSize) {
        byte[] lock = new byte[LOCK_LENGTH];
        ByteBuffer.wrap(lock)
                .order(ByteOrder.nativeOrder())
                .putShort(LOCK_TYPE_OFFSET, (short) type)
                .putLong(LOCK_START_OFFSET, position)
                .putLong(LOCK_LENGTH_OFFSET, byteSize);
        return lock;
    }

    private static RuntimeException lockFailed(int errno, int descriptor, long position, long byteSize) {
        return JnaPosix.failed("fcntl of an open file description's lock", errno)
                .with("descriptor", descriptor)
                .with("offset", position)
                .with("bytes", byteSize)
                .exception();
    }

    @Override
    public void sleepWhile(long address, int expected, long timeoutNs) {
        long result = LibC.syscall(
                futex,
                address,
                LibC.FUTEX_WAIT,
                expected & 0xffff_ffffL,
                times.get().set(timeoutNs),
                0,
                0);
        if (result < 0) {
            int errno = Native.getLastError();
            if (errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT) {
                throw JnaPosix.failed("futex(FUTEX_WAIT)", errno).exception();
            }
        }
    }

    @Override
    public int wake(long address, int count) {
        long woken = LibC.syscall(futex, address, LibC.FUTEX_WAKE, count, 0, 0, 0);
        if (woken < 0) {
            throw JnaPosix.failed("futex(FUTEX_WAKE)").exception();
        }
        return (int) woken;
    }

    @Override
    public int makeMemory(String label, long byteSize) {
        int descriptor = LibC.memfd_create(JnaPosix.cString(label), LibC.MFD_CLOEXEC);
        if (descriptor < 0) {
            throw JnaPosix.failed("memfd_create").with("label", label).exception();
        }
        try {
            BulkIo.system().resize(descriptor, byteSize);
            HugePages.reserve(Posix.system(), descriptor, 0, byteSize);
            return descriptor;
        } catch (RuntimeException | Error e) {
            Posix.system().close(descriptor);
            throw e;
        }
    }

    /** A {@code struct timespec}. */
    private static final class Time {
        private final ByteBuffer bytes =
                ByteBuffer.allocateDirect(2 * Long.BYTES).order(ByteOrder.nativeOrder());
        private final long address = Pointer.nativeValue(Native.getDirectBufferPointer(bytes));

        long set(long nanos) {
            bytes.putLong(0, nanos / NANOS_PER_SECOND);
            bytes.putLong(Long.BYTES, nanos % NANOS_PER_SECOND);
            return address;
        }
    }
}
