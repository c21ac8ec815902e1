package dev.larder.npy;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.text.PythonText;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Writes a header as numpy does, with a chosen offset of the data. */
final class HeaderWriter {
    static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

    /** The longest header in characters that {@code np.load} reads. */
    static final int NUMPY_LIMIT = 10_000;

    private final Dtype dtype;
    private final String literal;
    private final byte[] encoded;
    private final int version;

    HeaderWriter(Dtype dtype, Order order, long[] shape) {
        this.dtype = dtype;
        this.literal = "{'descr': " + dtype.literal() + ", 'fortran_order': " + (order == Order.F ? "True" : "False")
                + ", 'shape': " + tuple(shape) + ", }";
        boolean latin = literal.chars().allMatch(c -> c < 0x100);
        this.version = latin ? 1 : 3;
        this.encoded = literal.getBytes(latin ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8);
    }

    /** Returns the format version: 1 for all that numpy accepts in Latin-1, 3 for other names. Version 2 is never needed. */
    int version() {
        return version;
    }

    ByteBuffer encode(int alignment, int behind) {
        if (alignment < 1 || behind < 0 || behind >= alignment) {
            throw new IllegalArgumentException("alignment=" + alignment + " behind=" + behind);
        }
        int prefix = MAGIC.length + 2 + lengthBytes();
        long blocks = Math.max(0, (long) prefix + encoded.length - behind) / alignment + 1;
        long total = blocks * alignment + behind;
        int tail = encoded.length - literal.codePointCount(0, literal.length());
        long characters = total - prefix - tail;
        if (characters > NUMPY_LIMIT) {
            throw Failure.of(ErrorCode.BAD_INPUT, "header too long for numpy")
                    .with("characters", characters)
                    .with("limit", NUMPY_LIMIT)
                    .with("alignment", alignment)
                    .with("dtype", PythonText.shown(dtype.descr()))
                    .remedy("give the dtype fewer or shorter fields, or save them as arrays of their own");
        }
        return write(prefix, (int) total);
    }

    private int lengthBytes() {
        return version == 1 ? Short.BYTES : Integer.BYTES;
    }

    private ByteBuffer write(int prefix, int total) {
        byte[] header = new byte[total];
        Arrays.fill(header, (byte) ' ');
        header[total - 1] = '\n';
        ByteBuffer out = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        out.put(MAGIC).put((byte) version).put((byte) 0);
        if (version == 1) {
            out.putShort((short) (total - prefix));
        } else {
            out.putInt(total - prefix);
        }
        out.put(encoded);
        return out.rewind().order(ByteOrder.BIG_ENDIAN);
    }

    private static String tuple(long[] shape) {
        String items = Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(", "));
        return shape.length == 1 ? "(" + items + ",)" : "(" + items + ")";
    }
}
