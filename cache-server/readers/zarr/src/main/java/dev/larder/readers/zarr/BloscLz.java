package dev.larder.readers.zarr;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Unpacks the codec that Blosc brings: runs of bytes, and references to bytes before them. */
final class BloscLz {
    private static final int REFERENCE = 32;
    private static final int LONG = 6;
    private static final int LEAST_BYTES = 3;
    private static final int FAR = 31 << Byte.SIZE;
    private static final int FAR_DISTANCE = 8191;
    private static final int ALL = 0xff;

    private BloscLz() {}

    /** Returns how many bytes it has unpacked to the target, from a place on. */
    static int unpack(ByteBuffer in, byte[] target, int start, int length) throws IOException {
        int at = start;
        int end = start + length;
        int head = next(in) & (REFERENCE - 1); // the first one is a run
        while (true) {
            if (head < REFERENCE) {
                int run = head + 1;
                if (run > in.remaining() || run > end - at) {
                    throw bad();
                }
                in.get(target, at, run);
                at += run;
            } else {
                int bytes = bytes(head, in);
                int from = at - distance(head, in);
                if (from < start || bytes > end - at) {
                    throw bad();
                }
                for (int stop = at + bytes; at < stop; at++, from++) { // it may overlap itself
                    target[at] = target[from];
                }
            }
            if (!in.hasRemaining()) {
                return at - start;
            }
            head = next(in);
        }
    }

    private static int bytes(int head, ByteBuffer in) throws IOException {
        int bytes = (head >>> 5) - 1;
        if (bytes == LONG) {
            int more;
            do {
                more = next(in);
                bytes = Math.addExact(bytes, more);
            } while (more == ALL);
        }
        return bytes + LEAST_BYTES;
    }

    private static int distance(int head, ByteBuffer in) throws IOException {
        int high = (head & (REFERENCE - 1)) << Byte.SIZE;
        int low = next(in);
        if (high == FAR && low == ALL) {
            return (next(in) << Byte.SIZE) + next(in) + FAR_DISTANCE + 1;
        }
        return high + low + 1;
    }

    private static int next(ByteBuffer in) throws IOException {
        if (!in.hasRemaining()) {
            throw bad();
        }
        return in.get() & 0xff;
    }

    private static IOException bad() {
        return new IOException("BloscLZ: a run or reference is outside of the data");
    }
}
