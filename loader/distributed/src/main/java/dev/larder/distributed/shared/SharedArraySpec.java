package dev.larder.distributed.shared;

import dev.larder.distributed.region.RegionSpec;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Dtype;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The properties of a shared array.
 *
 * @param name one path component, like that of a dataset
 * @param dtype a number, little-endian
 * @param hasSpare whether there is room for the last published state: twice the memory
 * @see SharedArray
 */
public record SharedArraySpec(String name, Dtype dtype, List<Long> shape, boolean hasSpare) {
    /** The most bytes: two copies fit into a region. */
    private static final long BYTE_LIMIT = 1L << 58;

    /** Checks the values. */
    public SharedArraySpec {
        PrimitiveType.of(dtype);
        shape = List.copyOf(shape);
        if (shape.size() > ArrayDescriptor.RANK_LIMIT || shape.stream().anyMatch(size -> size < 0)) {
            throw badShape(shape, dtype);
        }
        elementCount(shape, dtype);
    }

    /** Describes an array without a spare. */
    public static SharedArraySpec of(String name, Dtype dtype, long... shape) {
        List<Long> sizes = LongStream.of(shape).boxed().collect(Collectors.toList());
        return new SharedArraySpec(name, dtype, sizes, false);
    }

    /** Adds room for whole states: {@link SharedArray#publish}. */
    public SharedArraySpec withSpare() {
        return new SharedArraySpec(name, dtype, shape, true);
    }

    /** Returns the number of elements. */
    public long elementCount() {
        return elementCount(shape, dtype);
    }

    private static long elementCount(List<Long> shape, Dtype dtype) {
        try {
            long count = 1;
            for (long size : shape) {
                count = Math.multiplyExact(count, size);
            }
            if (Math.multiplyExact(count, (long) dtype.itemSize()) > BYTE_LIMIT) {
                throw badShape(shape, dtype);
            }
            return count;
        } catch (ArithmeticException tooMany) {
            throw badShape(shape, dtype);
        }
    }

    private static RuntimeException badShape(List<Long> shape, Dtype dtype) {
        return Failure.of(ErrorCode.BAD_INPUT, "no array can have this shape")
                .with("shape", shape)
                .with("dtype", dtype)
                .with("dimensionLimit", ArrayDescriptor.RANK_LIMIT)
                .exception();
    }

    /** Returns the bytes of the elements. */
    long byteSize() {
        return elementCount() * dtype.itemSize();
    }

    RegionSpec region() {
        return new RegionSpec(name, ArrayDescriptor.KIND, ArrayDescriptor.byteSize(byteSize(), hasSpare));
    }
}
