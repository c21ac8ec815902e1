package dev.larder.internal.posix;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;

/** Calls the C library through JNA. */
final class JnaBulkIo implements BulkIo {
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;
    private static final int EFAULT = 14;
    private static final int COLLAPSE_ATTEMPTS = 3;

    /** The most nodes that a kernel can have. */
    private static final int MOST_NODES = 1024;

    private final boolean canPopulate;

    private JnaBulkIo() {
        this.canPopulate = probePopulate();
    }

    private static final class Holder {
        private static final BulkIo INSTANCE = new JnaBulkIo();
    }

    /** Initializes {@link Posix} first, because it reports a missing library with its remedy. */
    static BulkIo instance() {
        Posix.system();
        return Holder.INSTANCE;
    }

    private static boolean probePopulate() {
        long byteSize = PageSize.BYTES;
        int flags = LibC.MAP_PRIVATE | LibC.MAP_ANONYMOUS;
        long address = LibC.mmap(0, byteSize, LibC.PROT_READ | LibC.PROT_WRITE, flags, -1, 0);
        if (address == LibC.MAP_FAILED) {
            return false;
        }
        try {
            return LibC.madvise(address, byteSize, LibC.MADV_POPULATE_WRITE) == 0;
        } finally {
            LibC.munmap(address, byteSize);
        }
    }

    @Override
    public int openWithoutWaiting(Path path) {
        return JnaPosix.open(path, LibC.O_RDONLY | LibC.O_NONBLOCK | LibC.O_NOCTTY | LibC.O_CLOEXEC, 0);
    }

    @Override
    public long read(int descriptor, long position, long address, long byteSize) {
        while (true) {
            long read = LibC.pread(descriptor, address, byteSize, position);
            if (read >= 0) {
                return read;
            }
            requireInterrupted("pread", position, byteSize);
        }
    }

    @Override
    public long read(int descriptor, long position, ByteBuffer direct, int offset, int byteSize) {
        Objects.checkFromIndexSize(offset, byteSize, direct.capacity());
        try {
            return read(descriptor, position, addressOf(direct) + offset, byteSize);
        } finally {
            Reference.reachabilityFence(direct); // keeps the buffer's memory while the call uses it
        }
    }

    @Override
    public long read(int descriptor, long position, ScatterList pieces) {
        long done = 0;
        try {
            while (pieces.missing() > 0) {
                long read = LibC.preadv(descriptor, pieces.address(), pieces.missing(), position + done);
                if (read == 0) {
                    break;
                } else if (read < 0) {
                    requireInterrupted("preadv", position + done, pieces.byteSize() - done);
                } else {
                    done += read;
                    pieces.advance(read);
                }
            }
            return done;
        } finally {
            Reference.reachabilityFence(pieces);
        }
    }

    @Override
    public void write(int descriptor, long position, ByteBuffer direct, int offset, int byteSize) {
        Objects.checkFromIndexSize(offset, byteSize, direct.capacity());
        try {
            write(descriptor, position, addressOf(direct) + offset, byteSize);
        } finally {
            Reference.reachabilityFence(direct);
        }
    }

    @Override
    public void write(int descriptor, long position, long address, long byteSize) {
        for (long written = 0; written < byteSize; ) {
            long step = LibC.pwrite(descriptor, address + written, byteSize - written, position + written);
            if (step >= 0) {
                written += step;
            } else {
                requireInterrupted("pwrite", position + written, byteSize - written);
            }
        }
    }

    private static void requireInterrupted(String call, long position, long byteSize) {
        int errno = Native.getLastError();
        if (errno != EINTR) {
            throw JnaPosix.failed(call, errno)
                    .with("offset", position)
                    .with("bytes", byteSize)
                    .exception();
        }
    }

    @Override
    public void resize(int descriptor, long byteSize) {
        if (LibC.ftruncate(descriptor, byteSize) < 0) {
            throw JnaPosix.failed("ftruncate").with("bytes", byteSize).exception();
        }
    }

    @Override
    public void sync(int descriptor) {
        if (LibC.fsync(descriptor) < 0) {
            throw JnaPosix.failed("fsync").with("descriptor", descriptor).exception();
        }
    }

    @Override
    public void syncFileSystem(int descriptor) {
        if (LibC.syncfs(descriptor) < 0) {
            throw JnaPosix.failed("syncfs").with("descriptor", descriptor).exception();
        }
    }

    @Override
    public long mapWritable(int descriptor, long offset, long byteSize) {
        long address = AlignedMapping.map(descriptor, offset, byteSize, LibC.PROT_READ | LibC.PROT_WRITE);
        if (address == LibC.MAP_FAILED) {
            throw JnaPosix.failed("mmap")
                    .with("offset", offset)
                    .with("bytes", byteSize)
                    .exception();
        }
        return address;
    }

    @Override
    public boolean adviseSmallPages(long address, long byteSize) {
        return LibC.madvise(address, byteSize, LibC.MADV_NOHUGEPAGE) == 0;
    }

    @Override
    public boolean canPopulate() {
        return canPopulate;
    }

    @Override
    public void populate(long address, long byteSize) {
        while (LibC.madvise(address, byteSize, LibC.MADV_POPULATE_WRITE) < 0) {
            int errno = Native.getLastError();
            if (errno == EFAULT) { // accessing it would have raised SIGBUS
                throw Failure.of(ErrorCode.NO_SPACE, "madvise(MADV_POPULATE_WRITE) failed")
                        .with("errno", errno)
                        .with("bytes", byteSize)
                        .exception();
            }
            if (errno != EINTR && errno != EAGAIN) {
                throw JnaPosix.failed("madvise(MADV_POPULATE_WRITE)", errno)
                        .with("bytes", byteSize)
                        .exception();
            }
        }
    }

    @Override
    public boolean collapse(long address, long byteSize) {
        if (PageSize.hugeBytes() != PageSize.HUGE_BYTES) {
            return false; // the kernel would ignore ranges that are shorter than its huge pages, and report success
        }
        for (int attempt = 1; LibC.madvise(address, byteSize, LibC.MADV_COLLAPSE) < 0; attempt++) {
            int errno = Native.getLastError();
            boolean mayPass = errno == EAGAIN || errno == EINTR; // a page was locked, or a signal arrived
            if (!mayPass || attempt == COLLAPSE_ATTEMPTS) {
                return false;
            }
        }
        return true;
    }

    /** Seeks to the next data. The call fails if there are only holes up to the end. */
    @Override
    public boolean isHole(int descriptor, long offset, long byteSize) {
        long data = LibC.lseek(descriptor, offset, LibC.SEEK_DATA);
        return data < 0 || data >= offset + byteSize;
    }

    @Override
    public boolean discard(long address, long byteSize) {
        return LibC.madvise(address, byteSize, LibC.MADV_REMOVE) == 0;
    }

    @Override
    public long addressOf(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
    }

    @Override
    public MemoryPolicy memoryPolicy() {
        int[] mode = {0};
        long[] nodes = new long[MOST_NODES / Long.SIZE];
        long number = memoryPolicyCall(LibC.SYS_GET_MEMPOLICY, LibC.SYS_GET_MEMPOLICY_ARM);
        return number >= 0 && LibC.syscall(number, mode, nodes, MOST_NODES + 1, 0, 0) == 0
                ? new MemoryPolicy(mode[0], BitSet.valueOf(nodes))
                : MemoryPolicy.DEFAULT;
    }

    /** Passes one bit more than there are: the kernel reads one less. */
    @Override
    public boolean setMemoryPolicy(MemoryPolicy policy) {
        long[] nodes = Arrays.copyOf(policy.nodes().toLongArray(), MOST_NODES / Long.SIZE);
        long number = memoryPolicyCall(LibC.SYS_SET_MEMPOLICY, LibC.SYS_SET_MEMPOLICY_ARM);
        return number >= 0 && LibC.syscall(number, policy.mode(), nodes, MOST_NODES + 1) == 0;
    }

    private static long memoryPolicyCall(long numberOnIntel, long numberOnArm) {
        return switch (System.getProperty("os.arch", "")) {
            case "amd64", "x86_64" -> numberOnIntel;
            case "aarch64" -> numberOnArm;
            default -> -1;
        };
    }
}
