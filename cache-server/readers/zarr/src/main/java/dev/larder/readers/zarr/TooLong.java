package dev.larder.readers.zarr;

import java.io.IOException;

/** A chunk is longer than its limit: that of its shape, or for elements of any length that of the heap. */
final class TooLong extends IOException {
    private static final long serialVersionUID = 1;

    TooLong(String reason) {
        super(reason);
    }
}
