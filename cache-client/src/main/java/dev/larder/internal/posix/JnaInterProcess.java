package dev.larder.internal.posix;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Calls the C library through JNA, and the kernel directly if the library lacks a function. */
final class JnaInterProcess implements InterProcess {
    private static final int ENOENT = 2;
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;
    private static final int EACCES = 13;
    private static final int EPIPE = 32;
    private static final int ECONNRESET = 104;
    private static final int ETIMEDOUT = 110;
    private static final int ECONNREFUSED = 111;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    // struct flock
    private static final int LOCK_TYPE_OFFSET = 0;
    private static final int LOCK_START_OFFSET = 8;
    private static final int LOCK_LENGTH_OFFSET = 16;
    private static final int LOCK_LENGTH = 32;

    // struct sockaddr_un
    private static final int ADDRESS_PATH_OFFSET = 2;
    private static final int ADDRESS_LENGTH = 110;
    private static final int BACKLOG = 128;

    // struct msghdr, struct iovec, struct cmsghdr with one descriptor, and the number
    private static final int HEADER_IOV_OFFSET = 16;
    private static final int HEADER_IOV_COUNT_OFFSET = 24;
    private static final int HEADER_CONTROL_OFFSET = 32;
    private static final int HEADER_CONTROL_LENGTH_OFFSET = 40;
    private static final int IOV_OFFSET = 56;
    private static final int CONTROL_OFFSET = IOV_OFFSET + 16;
    private static final int CONTROL_LEVEL_OFFSET = CONTROL_OFFSET + 8;
    private static final int CONTROL_TYPE_OFFSET = CONTROL_LEVEL_OFFSET + 4;
    private static final int CONTROL_DATA_OFFSET = CONTROL_TYPE_OFFSET + 4;
    private static final int CONTROL_SPACE = 24;
    private static final int CONTROL_LENGTH = 20;
    private static final int NUMBER_OFFSET = CONTROL_OFFSET + CONTROL_SPACE;
    private static final int MESSAGE_LENGTH = NUMBER_OFFSET + Long.BYTES;

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
    public int makeSealedMemory(String label, long byteSize) {
        int descriptor = LibC.memfd_create(JnaPosix.cString(label), LibC.MFD_CLOEXEC | LibC.MFD_ALLOW_SEALING);
        if (descriptor < 0) {
            throw JnaPosix.failed("memfd_create").with("label", label).exception();
        }
        try {
            BulkIo.system().resize(descriptor, byteSize);
            HugePages.reserve(Posix.system(), descriptor, 0, byteSize);
            int seals = LibC.F_SEAL_SHRINK | LibC.F_SEAL_GROW | LibC.F_SEAL_SEAL;
            if (LibC.fcntl(descriptor, LibC.F_ADD_SEALS, seals) < 0) {
                throw JnaPosix.failed("fcntl(F_ADD_SEALS)").with("label", label).exception();
            }
            return descriptor;
        } catch (RuntimeException | Error e) {
            Posix.system().close(descriptor);
            throw e;
        }
    }

    @Override
    public int listen(Path socket) {
        int descriptor = newSocket();
        try {
            Posix.system().changeMode(descriptor, 0600); // bind creates the file with this mode, reduced by the umask
            byte[] address = address(socket);
            if (LibC.bind(descriptor, address, address.length) < 0) {
                throw JnaPosix.failed("bind").with("socket", socket).exception();
            }
            if (LibC.listen(descriptor, BACKLOG) < 0) {
                throw JnaPosix.failed("listen").with("socket", socket).exception();
            }
            return descriptor;
        } catch (RuntimeException | Error e) {
            Posix.system().close(descriptor);
            throw e;
        }
    }

    @Override
    public int accept(int listener, Duration timeout) {
        int[] poll = {listener, LibC.POLLIN}; // struct pollfd
        int ready = LibC.poll(poll, 1, (int) Math.min(timeout.toMillis(), Integer.MAX_VALUE));
        if (ready < 0 && Native.getLastError() != EINTR) {
            throw JnaPosix.failed("poll").with("descriptor", listener).exception();
        }
        if (ready <= 0) {
            return -1;
        }
        int connection = LibC.accept4(listener, 0, 0, LibC.SOCK_CLOEXEC);
        if (connection < 0) {
            int errno = Native.getLastError();
            if (errno == EINTR || errno == EAGAIN || errno == ECONNRESET || errno == 103) { // ECONNABORTED
                return -1;
            }
            throw JnaPosix.failed("accept", errno).with("descriptor", listener).exception();
        }
        return connection;
    }

    @Override
    public int connect(Path socket, Duration timeout) {
        int descriptor = newSocket();
        try {
            limitWaits(descriptor, timeout);
            byte[] address = address(socket);
            while (LibC.connect(descriptor, address, address.length) < 0) {
                int errno = Native.getLastError();
                if (errno == ENOENT || errno == ECONNREFUSED) {
                    throw Failure.of(ErrorCode.NO_DAEMON, "nothing listens there")
                            .with("socket", socket)
                            .with("errno", errno)
                            .remedy(Remedy.START_DAEMON);
                }
                if (errno != EINTR) {
                    throw JnaPosix.failed("connect", errno)
                            .with("socket", socket)
                            .exception();
                }
            }
            return descriptor;
        } catch (RuntimeException | Error e) {
            Posix.system().close(descriptor);
            throw e;
        }
    }

    private static int newSocket() {
        int descriptor = LibC.socket(LibC.AF_UNIX, LibC.SOCK_SEQPACKET | LibC.SOCK_CLOEXEC, 0);
        if (descriptor < 0) {
            throw JnaPosix.failed("socket").exception();
        }
        return descriptor;
    }

    private static byte[] address(Path socket) {
        byte[] path = JnaPosix.cString(socket);
        if (ADDRESS_PATH_OFFSET + path.length > ADDRESS_LENGTH) {
            throw Failure.of(ErrorCode.USAGE, "path of a socket is too long")
                    .with("socket", socket)
                    .with("bytes", path.length - 1)
                    .with("limit", ADDRESS_LENGTH - ADDRESS_PATH_OFFSET - 1)
                    .remedy("choose a store with a shorter path");
        }
        byte[] address = new byte[ADDRESS_PATH_OFFSET + path.length];
        ByteBuffer.wrap(address).order(ByteOrder.nativeOrder()).putShort((short) LibC.AF_UNIX);
        System.arraycopy(path, 0, address, ADDRESS_PATH_OFFSET, path.length);
        return address;
    }

    @Override
    public void limitWaits(int connection, Duration timeout) {
        long[] time = {timeout.toSeconds(), timeout.toNanosPart() / 1000};
        for (int option : new int[] {LibC.SO_RCVTIMEO, LibC.SO_SNDTIMEO}) {
            if (LibC.setsockopt(connection, LibC.SOL_SOCKET, option, time, 2 * Long.BYTES) < 0) {
                throw JnaPosix.failed("setsockopt").with("option", option).exception();
            }
        }
    }

    @Override
    public void send(int connection, long number, int @Nullable [] descriptor) {
        Message message = new Message(descriptor == null ? 0 : CONTROL_SPACE);
        message.bytes.putLong(NUMBER_OFFSET, number);
        if (descriptor != null) {
            message.bytes.putLong(CONTROL_OFFSET, CONTROL_LENGTH);
            message.bytes.putInt(CONTROL_LEVEL_OFFSET, LibC.SOL_SOCKET);
            message.bytes.putInt(CONTROL_TYPE_OFFSET, LibC.SCM_RIGHTS);
            message.bytes.putInt(CONTROL_DATA_OFFSET, descriptor[0]);
        }
        while (LibC.sendmsg(connection, message.address, LibC.MSG_NOSIGNAL) < 0) {
            int errno = Native.getLastError();
            if (errno == EPIPE || errno == ECONNRESET || errno == EAGAIN) {
                throw Failure.of(ErrorCode.NO_DAEMON, "the other side no longer listens")
                        .with("errno", errno)
                        .exception();
            }
            if (errno != EINTR) {
                throw JnaPosix.failed("sendmsg", errno).exception();
            }
        }
    }

    @Override
    public @Nullable Received receive(int connection) {
        Message message = new Message(CONTROL_SPACE);
        while (true) {
            long length = LibC.recvmsg(connection, message.address, LibC.MSG_CMSG_CLOEXEC);
            if (length < 0) {
                int errno = Native.getLastError();
                if (errno == EINTR) {
                    continue;
                }
                if (errno == EAGAIN || errno == ECONNRESET) {
                    return null;
                }
                throw JnaPosix.failed("recvmsg", errno).exception();
            }
            int descriptor = message.descriptor();
            if (length != Long.BYTES) {
                if (descriptor >= 0) {
                    Posix.system().close(descriptor);
                }
                return null;
            }
            return new Received(message.bytes.getLong(NUMBER_OFFSET), descriptor);
        }
    }

    /** The memory of a message and its C descriptions. */
    private static final class Message {
        private final ByteBuffer bytes =
                ByteBuffer.allocateDirect(MESSAGE_LENGTH).order(ByteOrder.nativeOrder());
        private final long address = Pointer.nativeValue(Native.getDirectBufferPointer(bytes));

        Message(int controlLength) {
            bytes.putLong(HEADER_IOV_OFFSET, address + IOV_OFFSET);
            bytes.putLong(HEADER_IOV_COUNT_OFFSET, 1);
            bytes.putLong(HEADER_CONTROL_OFFSET, controlLength == 0 ? 0 : address + CONTROL_OFFSET);
            bytes.putLong(HEADER_CONTROL_LENGTH_OFFSET, controlLength);
            bytes.putLong(IOV_OFFSET, address + NUMBER_OFFSET);
            bytes.putLong(IOV_OFFSET + Long.BYTES, Long.BYTES);
        }

        /** Returns the received descriptor, or -1 if there is none. */
        int descriptor() {
            boolean isThere = bytes.getLong(HEADER_CONTROL_LENGTH_OFFSET) >= CONTROL_LENGTH
                    && bytes.getInt(CONTROL_LEVEL_OFFSET) == LibC.SOL_SOCKET
                    && bytes.getInt(CONTROL_TYPE_OFFSET) == LibC.SCM_RIGHTS;
            return isThere ? bytes.getInt(CONTROL_DATA_OFFSET) : -1;
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
