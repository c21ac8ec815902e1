package dev.larder.distributed.shared;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The data of a region for a {@link SharedArray}; little-endian, offsets from the start of the data.
 *
 * <pre>
 *     0                 4                 8                 12                16
 *    +-----------------+-----------------+-----------------+-----------------+
 *  0 | dtype length    | rank            | has spare: 1    | -               |
 *    +-----------------+-----------------+-----------------+-----------------+
 * 16 | shape: 13 int64                                                       |
 *    +-----------------------------------------------------------------------+
 *128 | dtype: numpy's descr text, ASCII                                      |
 *    +-----------------------------------------------------------------------+
 *256 | the array's lock, seats 0 and 1: {@link LockDescriptor}                            |
 *    +-----------------------------------------------------------------------+
 *512 | the publishers' lock, seats 2 and 3                                   |
 *    +-----------------------------------+-----------------------------------+
 *768 | sequence: 4 × publications + phase|                                   |
 *    +-----------------------------------+-----------------------------------+
 *1024| the barrier, seats from 4 on: {@link SharedBarrier}                    |
 *    +-----------------------------------------------------------------------+
 *4096| elements, in C order                                                  |
 *    +-----------------------------------------------------------------------+
 *  … | spare: as many bytes from the next multiple of 4096 on, if there is one
 *
 *  phase   0  elements and spare may be read; the spare holds the last published state
 *          1  a publisher changes the elements: the spare holds the last published state
 *          2  a publisher copies the elements to the spare: the elements are the new state
 * </pre>
 *
 * <b>A publisher</b> has the publishers' lock. If it finds phase 1, another publisher has died or failed: it copies the spare to the
 * elements. If it finds phase 2, it copies the elements to the spare. <b>A reader</b> copies the spare in phases 0 and 1, and the elements
 * in phase 2. Its copy is one state if there was no write meanwhile: for the spare while the sequence stayed below 4 n + 2, and for the
 * elements while it stayed 4 n + 2. This value never comes again. But 4 (n + 1) comes back if a publisher changes elements and fails.
 */
final class ArrayDescriptor {
    static final String KIND = "shared-array";

    /** The same as in numpy and in the cache. */
    static final int RANK_LIMIT = 13;

    static final int DTYPE_LENGTH_OFFSET = 0;
    static final int RANK_OFFSET = DTYPE_LENGTH_OFFSET + Integer.BYTES;
    static final int HAS_SPARE_OFFSET = RANK_OFFSET + Integer.BYTES;
    static final int SHAPE_OFFSET = 16;
    static final int DTYPE_OFFSET = 128;
    static final int LOCK_OFFSET = 256;
    static final int PUBLISHERS_LOCK_OFFSET = LOCK_OFFSET + 256;
    static final int SEQUENCE_OFFSET = PUBLISHERS_LOCK_OFFSET + 256;
    static final int BARRIER_OFFSET = 1024;
    static final int ELEMENTS_OFFSET = 4096;

    static final int LOCK_SEAT = 0;
    static final int PUBLISHERS_LOCK_SEAT = LOCK_SEAT + LockDescriptor.SEATS;

    static final int BARRIER_SEAT = PUBLISHERS_LOCK_SEAT + LockDescriptor.SEATS;

    static final int PHASES = 4;
    static final int WRITING = 1;
    static final int COPYING = 2;

    private ArrayDescriptor() {}

    static long spareOffset(long byteSize) {
        return ELEMENTS_OFFSET + ((byteSize + ELEMENTS_OFFSET - 1) & -ELEMENTS_OFFSET);
    }

    static long byteSize(long byteSize, boolean hasSpare) {
        return hasSpare ? spareOffset(byteSize) + byteSize : ELEMENTS_OFFSET + byteSize;
    }

    static void write(SharedMemory memory, SharedArraySpec spec) {
        byte[] dtype = spec.dtype().descr().getBytes(StandardCharsets.US_ASCII);
        memory.putInt(DTYPE_LENGTH_OFFSET, dtype.length);
        memory.putInt(RANK_OFFSET, spec.shape().size());
        memory.putInt(HAS_SPARE_OFFSET, spec.hasSpare() ? 1 : 0);
        for (int i = 0; i < spec.shape().size(); i++) {
            memory.putLong(SHAPE_OFFSET + (long) i * Long.BYTES, spec.shape().get(i));
        }
        memory.buffer(DTYPE_OFFSET, dtype.length).put(dtype);
    }

    /** Reads the properties of an array, and checks that the region has the right size. */
    static SharedArraySpec read(Region region) {
        SharedMemory memory = region.memory();
        int dtypeLength = memory.getInt(DTYPE_LENGTH_OFFSET);
        int rank = memory.getInt(RANK_OFFSET);
        if (dtypeLength < 0 || dtypeLength > LOCK_OFFSET - DTYPE_OFFSET || rank < 0 || rank > RANK_LIMIT) {
            throw region.damaged(null);
        }
        byte[] dtype = new byte[dtypeLength];
        memory.buffer(DTYPE_OFFSET, dtype.length).get(dtype);
        List<Long> shape = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            shape.add(memory.getLong(SHAPE_OFFSET + (long) i * Long.BYTES));
        }
        SharedArraySpec spec = specOf(region, new String(dtype, StandardCharsets.US_ASCII), shape);
        if (spec.region().byteSize() != memory.byteSize()) {
            throw region.damaged(null);
        }
        return spec;
    }

    private static SharedArraySpec specOf(Region region, String dtype, List<Long> shape) {
        boolean hasSpare = region.memory().getInt(HAS_SPARE_OFFSET) == 1;
        try {
            return new SharedArraySpec(region.name(), Dtype.parse(dtype), shape, hasSpare);
        } catch (LarderException e) {
            throw region.damaged(e);
        }
    }
}
