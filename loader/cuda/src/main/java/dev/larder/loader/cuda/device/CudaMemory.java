package dev.larder.loader.cuda.device;

import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.NativeMemory;
import dev.larder.loader.internal.device.NativeSession;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;
import org.jspecify.annotations.Nullable;

/** Memory for kernels: of the device, or pages of the host if the device can use them. */
final class CudaMemory extends NativeMemory {
    private static final byte POISON = (byte) 0xA5;

    private final CudaSession session;
    private final long address;

    /** The pages of the host, which this keeps reachable; null if the memory was allocated. */
    private final @Nullable ByteBuffer pages;

    private CudaMemory(CudaSession session, long address, long byteSize, @Nullable ByteBuffer pages) {
        super(session, byteSize);
        this.session = session;
        this.address = address;
        this.pages = pages;
    }

    /** Allocates memory of the device. */
    static CudaMemory allocate(CudaSession session, long byteSize) {
        CudaMemory memory = new CudaMemory(session, session.allocate(byteSize), byteSize, null);
        if (session.poisoned) {
            try {
                session.copies().fill(memory, POISON);
            } catch (Throwable e) {
                memory.close();
                throw e;
            }
        }
        return memory;
    }

    /** Uses pages of the host, from the position of a buffer to its limit. */
    static CudaMemory share(CudaSession session, ByteBuffer pages) {
        ByteBuffer exact = pages.slice();
        return new CudaMemory(session, BufferUtil.address(exact), exact.capacity(), exact);
    }

    /** Casts memory; fails unless it is open and of this session. */
    static CudaMemory of(DeviceMemory memory, CudaSession session) {
        return of(memory, CudaMemory.class, session);
    }

    /** Fills all of it. The caller waits for the end. */
    int fill(byte value, long stream) {
        return LibCuda.cuMemsetD8Async(address, value, byteSize(), stream);
    }

    /** Returns the {@code CUdeviceptr}. */
    @Override
    public long handle() {
        return address;
    }

    @Override
    public @Nullable Object nativeObject() {
        return null;
    }

    @Override
    protected void release() {
        if (pages == null && session.state() != NativeSession.State.STUCK) {
            session.freeMemory(address, byteSize());
        }
    }
}
