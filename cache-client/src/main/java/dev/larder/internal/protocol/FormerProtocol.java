package dev.larder.internal.protocol;

import dev.larder.error.LarderException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The control plane of releases before 0.1.0: frames of Simple Binary Encoding. It recognizes only the first frame of such a client and
 * writes only a refusal, so that the client fails with a reason.
 *
 * <pre>
 *  int32 length | uint16 blockLength | uint16 templateId | uint16 schemaId = 1818 | uint16 version | block | texts …      little-endian
 * </pre>
 */
public final class FormerProtocol {
    /** Number of bytes of a first frame that {@link #isHello} needs. */
    public static final int HELLO_BYTES = 12;

    private static final int TEMPLATE_OFFSET = 6;
    private static final int SCHEMA_OFFSET = 8;
    private static final short HELLO = 1;
    private static final short SCHEMA = 1818;
    private static final short SCHEMA_VERSION = 3;
    private static final short PROBLEM = 30;
    private static final int LONGEST_TEXT = 4096;

    private FormerProtocol() {}

    /** Returns whether a connection begins with a frame of that protocol. */
    public static boolean isHello(byte[] beginning) {
        if (beginning.length < HELLO_BYTES) {
            return false;
        }
        ByteBuffer bytes = ByteBuffer.wrap(beginning).order(ByteOrder.LITTLE_ENDIAN);
        return bytes.getShort(TEMPLATE_OFFSET) == HELLO && bytes.getShort(SCHEMA_OFFSET) == SCHEMA;
    }

    /** Returns the frame that reports a failure. */
    public static byte[] refusal(LarderException failure) {
        byte[] text = String.valueOf(failure.getMessage()).getBytes(StandardCharsets.UTF_8);
        byte[] truncated = Arrays.copyOf(text, Math.min(text.length, LONGEST_TEXT));
        int length = 4 * Short.BYTES + Integer.BYTES + Short.BYTES + truncated.length + Short.BYTES;
        return ByteBuffer.allocate(Integer.BYTES + length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .putShort((short) Integer.BYTES)
                .putShort(PROBLEM)
                .putShort(SCHEMA)
                .putShort(SCHEMA_VERSION)
                .putInt(failure.rawCode())
                .putShort((short) truncated.length)
                .put(truncated)
                .putShort((short) 0) // no trace
                .array();
    }
}
