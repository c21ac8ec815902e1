package dev.larder.loader.internal.device;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.ByteBuffer;

/** Host memory for batches; a device may be able to read it directly. Its allocator owns it. */
public interface HostMemory extends AutoCloseable {
    /** The alignment of all host memory, in bytes: devices require whole pages. */
    int ALIGNMENT = 4096;

    /** Returns all bytes as a direct buffer that begins on a page. Do not change its position or limit. */
    ByteBuffer bytes();

    /** Frees the memory, which no thread or device may still use. Idempotent. */
    @Override
    void close();

    /** Allocates zeroed memory in a direct buffer. It stays valid while its buffer is reachable. */
    static HostMemory allocate(long byteSize) {
        int length = Math.toIntExact(byteSize);
        int pages = (length + ALIGNMENT - 1) & -ALIGNMENT;
        ByteBuffer bytes =
                allocateDirect(pages + ALIGNMENT).alignedSlice(ALIGNMENT).slice(0, length);
        return new HostMemory() {
            @Override
            public ByteBuffer bytes() {
                return bytes;
            }

            @Override
            public void close() {}
        };
    }

    private static ByteBuffer allocateDirect(int length) {
        try {
            return ByteBuffer.allocateDirect(length);
        } catch (OutOfMemoryError e) {
            throw Failure.of(ErrorCode.NO_SPACE, "cannot allocate memory outside the heap")
                    .with("bytes", length)
                    .cause(e)
                    .remedy("choose a smaller batchSize(…) or prefetch(…), or raise -XX:MaxDirectMemorySize");
        }
    }
}
