package dev.larder.loader.device;

import java.nio.ByteBuffer;

/** Memory of the host that batches are gathered into, perhaps such that a device can fetch from it by itself. Belongs to who allocated it. */
public interface HostMemory extends AutoCloseable {
    /** How each begins: devices want pages. */
    int ALIGNMENT = 4096;

    /** Returns all bytes as a direct buffer that begins on a page; its position and limit are not to be changed. */
    ByteBuffer bytes();

    /** Gives the memory back; nobody may use it any more, a device included. Idempotent. */
    @Override
    void close();

    /** Allocates plain zeroed memory of Java, which lasts for as long as its buffer is reachable. */
    static HostMemory allocate(long byteSize) {
        int length = Math.toIntExact(byteSize);
        int pages = (length + ALIGNMENT - 1) & -ALIGNMENT;
        ByteBuffer bytes = ByteBuffer.allocateDirect(pages + ALIGNMENT)
                .alignedSlice(ALIGNMENT)
                .slice(0, length);
        return new HostMemory() {
            @Override
            public ByteBuffer bytes() {
                return bytes;
            }

            @Override
            public void close() {}
        };
    }
}
