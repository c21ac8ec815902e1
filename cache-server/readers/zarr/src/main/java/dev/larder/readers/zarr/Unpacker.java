package dev.larder.readers.zarr;

import java.io.IOException;

/** Undoes one codec of bytes. */
@FunctionalInterface
interface Unpacker {
    /**
     * Returns the bytes as they were before the codec; fails on any bytes that it cannot have made.
     *
     * @param most the length that they can have; no memory is taken for more
     */
    byte[] undo(byte[] packed, int most) throws IOException;
}
