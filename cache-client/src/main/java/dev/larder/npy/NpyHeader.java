package dev.larder.npy;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.text.PythonText;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import java.util.Objects;

/**
 * The header before the data of a {@code .npy} file: element type, order and shape.
 *
 * <pre>
 *   0        6       7       8                10 (v1) or 12 (v2, v3)      data offset
 *   +--------+-------+-------+----------------+---------------------------+--------
 *   | \x93   | major | minor | length of the  | {'descr': ..., } in       | data
 *   | NUMPY  | 1,2,3 | 0     | rest: u16 (v1) | latin-1 (v1, v2) or UTF-8 |
 *   |        |       |       | or u32, little | (v3), spaces, \n          |
 *   +--------+-------+-------+----------------+---------------------------+--------
 * </pre>
 *
 * <p>Sizes are checked: the numbers of elements and bytes fit a {@code long}. If a dimension is 0, the product of the others must fit
 * as well. Immutable.
 */
public final class NpyHeader {
    /** The maximum number of dimensions: the limit of numpy 2. numpy 1 opens up to 32. */
    public static final int MAX_DIMENSIONS = 64;

    /** The maximum length of a header, in bytes. Enough for types with thousands of fields. */
    public static final int MAX_LENGTH = 1 << 20;

    /** Numpy's own alignment of data. */
    static final int NUMPY_ALIGNMENT = 64;

    private final Dtype dtype;
    private final Order order;
    private final long[] shape;
    private final long elementCount;
    private final long byteSize;
    private final int version;
    private final long dataOffset;

    /** Takes ownership of {@code shape}. */
    NpyHeader(Dtype dtype, Order order, long[] shape, int version, long dataOffset) {
        this.dtype = dtype;
        this.order = order;
        this.shape = shape;
        this.elementCount = ShapeSize.elementCount(shape, dtype.itemSize());
        this.byteSize = elementCount * dtype.itemSize();
        this.version = version;
        this.dataOffset = dataOffset;
    }

    /**
     * Describes an array to be written, with version and data offset as of {@code encode(64)}. Fails with
     * {@link ErrorCode#BAD_INPUT} if the shape is impossible or the header is too long for numpy.
     */
    public static NpyHeader of(Dtype dtype, Order order, long... shape) {
        long[] own = shape.clone();
        String objection = ShapeSize.objection(own, dtype.itemSize());
        if (objection != null) {
            throw Failure.of(ErrorCode.BAD_INPUT, "impossible array")
                    .with("dtype", PythonText.shown(dtype.descr()))
                    .with("shape", Arrays.toString(own))
                    .with("reason", objection)
                    .remedy("give at most " + MAX_DIMENSIONS
                            + " dimensions of 0 and more, in all less than 2^63 bytes");
        }
        HeaderWriter writer = new HeaderWriter(dtype, order, own);
        return new NpyHeader(
                dtype,
                order,
                own,
                writer.version(),
                writer.encode(NUMPY_ALIGNMENT, 0).limit());
    }

    /**
     * Reads a header from the current position of a channel, and leaves the channel at the first byte of data. Fails with
     * {@link ErrorCode#BAD_INPUT} for any malformed header; the message contains {@code whatFile}, the byte and the reason.
     * Blocks until the header has arrived.
     */
    public static NpyHeader read(ReadableByteChannel channel, String whatFile) {
        return new HeaderReader(channel, whatFile).read();
    }

    /**
     * Encodes the header so that data starts at the first multiple of {@code alignment} after it, which is the limit of the
     * buffer. Numpy can open it. Fails with {@link ErrorCode#BAD_INPUT} if numpy would refuse it (more than 10,000 characters).
     */
    public ByteBuffer encode(int alignment) {
        return encode(alignment, 0);
    }

    /** Encodes the header so that data starts {@code behind} bytes after such a multiple. {@code behind} is not 0. */
    public ByteBuffer encode(int alignment, int behind) {
        return new HeaderWriter(dtype, order, shape).encode(alignment, behind);
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return dtype;
    }

    /** Returns the order of the elements. */
    public Order order() {
        return order;
    }

    /** Returns a copy of the dimensions; empty for a single value. */
    public long[] shape() {
        return shape.clone();
    }

    /** Returns the number of dimensions. */
    public int dimensions() {
        return shape.length;
    }

    /** Returns the number of elements: 1 for a single value, 0 if a dimension is 0. */
    public long elementCount() {
        return elementCount;
    }

    /** Returns the number of bytes of the data. */
    public long byteSize() {
        return byteSize;
    }

    /** Returns the offset of the data, from the first byte of the header. */
    public long dataOffset() {
        return dataOffset;
    }

    /** Returns the version of the format: 1, 2 or 3. */
    public int version() {
        return version;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NpyHeader that
                && dtype.equals(that.dtype)
                && order == that.order
                && Arrays.equals(shape, that.shape)
                && version == that.version
                && dataOffset == that.dataOffset;
    }

    @Override
    public int hashCode() {
        return Objects.hash(dtype, order, Arrays.hashCode(shape), version, dataOffset);
    }

    @Override
    public String toString() {
        return "dtype=" + dtype + " shape=" + Arrays.toString(shape) + " order=" + order + " version=" + version
                + " dataOffset=" + dataOffset;
    }
}
