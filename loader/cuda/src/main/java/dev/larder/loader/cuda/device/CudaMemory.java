package dev.larder.loader.cuda.device;

import dev.larder.loader.internal.cuda.LibCuda;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.NativeMemory;
import dev.larder.loader.internal.device.NativeSession;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;
import org.jspecify.annotations.Nullable;

/** Memory at an address that kernels use: of the device, or pages of the host where the device works in these. */
final class CudaMemory extends NativeMemory {
    private static final byte POISON = (byte) 0xA5;

    private final CudaSession session;
    private final long address;

    /** Pages of the host, to keep them; null if the memory was allocated. */
    private final @Nullable ByteBuffer pages;

    private CudaMemory(CudaSession session, long address, long byteSize, @Nullable ByteBuffer pages) {
        super(session, byteSize);
        this.session = session;
        this.address = address;
        this.pages = pages;
    }

    /** Allocates memory, which is the device's at once. */
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

    /** Takes pages of the host, from the position of a buffer to its limit. */
    static CudaMemory share(CudaSession session, ByteBuffer pages) {
        ByteBuffer exact = pages.slice();
        return new CudaMemory(session, BufferUtil.address(exact), exact.capacity(), exact);
    }

    /** Returns memory as one of this session, and open. */
    static CudaMemory of(DeviceMemory memory, CudaSession session) {
        return of(memory, CudaMemory.class, session);
    }

    /** Fills all of it; the caller waits until that is done. */
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
