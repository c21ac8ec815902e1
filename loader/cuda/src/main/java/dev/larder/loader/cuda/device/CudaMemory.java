package dev.larder.loader.cuda.device;

import dev.larder.loader.device.DeviceMemory;
import dev.larder.loader.internal.cuda.LibCuda;
import java.nio.ByteBuffer;
import org.agrona.BufferUtil;
import org.jspecify.annotations.Nullable;

/** Memory at an address that kernels use: of the device, or pages of the host where the device works in these. */
final class CudaMemory implements DeviceMemory {
    private static final byte POISON = (byte) 0xA5;

    private final CudaSession session;
    private final long address;
    private final long byteSize;

    /** Pages of the host, to keep them; nothing where the memory was allocated. */
    private final @Nullable ByteBuffer pages;

    private volatile boolean closed;

    private CudaMemory(CudaSession session, long address, long byteSize, @Nullable ByteBuffer pages) {
        this.session = session;
        this.address = address;
        this.byteSize = byteSize;
        this.pages = pages;
    }

    /** Allocates memory, which is the device's at once. */
    static CudaMemory allocate(CudaSession session, long byteSize) {
        CudaMemory memory = new CudaMemory(session, session.allocate(byteSize), byteSize, null);
        if (session.settings.poisoned()) {
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
        if (!(memory instanceof CudaMemory own) || !own.session.sharesContextWith(session)) {
            throw new IllegalArgumentException("memory of another device: " + memory);
        }
        own.requireOpen();
        return own;
    }

    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    /** Fills all of it; the caller waits until that is done. */
    int fill(byte value, long stream) {
        return LibCuda.cuMemsetD8Async(address, value, byteSize, stream);
    }

    @Override
    public long byteSize() {
        return byteSize;
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
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (pages == null && session.state != CudaSession.State.STUCK) {
            session.freeMemory(address, byteSize);
        }
    }

    @Override
    public String toString() {
        return "CudaMemory{" + session.info + " byteSize=" + byteSize + "}";
    }
}
