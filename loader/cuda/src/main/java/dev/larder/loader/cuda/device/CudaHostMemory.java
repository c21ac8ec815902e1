package dev.larder.loader.cuda.device;

import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.NativeSession;
import java.nio.ByteBuffer;

/** Host memory with locked pages, as {@code pinMemory()} uses it. */
final class CudaHostMemory implements HostMemory {
    private final CudaSession session;
    private final HostMemory memory;

    private CudaHostMemory(CudaSession session, HostMemory memory) {
        this.session = session;
        this.memory = memory;
    }

    static CudaHostMemory allocate(CudaSession session, long byteSize) {
        try {
            return new CudaHostMemory(session, session.pageLocking.allocate(byteSize));
        } catch (LarderException e) {
            throw Failure.of(e.code(), "cannot allocate host memory for the device")
                    .with("device", session.info())
                    .with("needed", byteSize)
                    .with("reason", e)
                    .cause(e)
                    .remedy("use fewer or smaller batches, or raise the container's memory");
        }
    }

    @Override
    public ByteBuffer bytes() {
        return memory.bytes();
    }

    @Override
    public void close() {
        if (session.state() != NativeSession.State.STUCK) { // else the device may still read it, so it stays locked
            memory.close();
        }
    }
}
