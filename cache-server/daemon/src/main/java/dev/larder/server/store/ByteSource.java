package dev.larder.server.store;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Delivers bytes, the first ones first, into memory that is shown to it. */
public interface ByteSource {
    /**
     * Puts some bytes into a direct buffer, from its position on.
     *
     * @param address of the buffer's position
     * @return how many, at least one while there are any; below one at the end
     */
    long read(ByteBuffer target, long address) throws IOException;
}
