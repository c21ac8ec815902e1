package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.sbe.MessageHeaderEncoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;

/** One message on its way to the wire, in a buffer that is used again. */
final class MessageWriter {
    static final int MESSAGE = FrameReader.LENGTH_BYTES;

    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(1024);
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final int maxLength;

    MessageWriter(int maxLength) {
        this.maxLength = maxLength;
    }

    MutableDirectBuffer buffer() {
        return buffer;
    }

    MessageHeaderEncoder header() {
        return header;
    }

    /** Puts the length in front of a message that ends at {@code end}, and returns the frame. */
    ByteBuffer frame(int end) {
        int length = end - MESSAGE;
        if (length > maxLength) {
            throw Failure.of(ErrorCode.USAGE, "message is too long")
                    .with("bytes", length)
                    .with("limit", maxLength)
                    .remedy("request less at once");
        }
        buffer.putInt(0, length, ByteOrder.LITTLE_ENDIAN);
        return ByteBuffer.wrap(buffer.byteArray(), 0, end);
    }

    /** Returns a text that must arrive whole; one that is too long is the caller's mistake. */
    static String whole(String name, String text, int maxLength) {
        int length = utf8Length(text);
        if (length > maxLength) {
            throw Failure.of(ErrorCode.USAGE, "text is too long for the control plane")
                    .with("field", name)
                    .with("bytes", length)
                    .with("limit", maxLength)
                    .with("starts", text.substring(0, Math.min(40, text.length())))
                    .remedy("use a shorter one");
        }
        return text;
    }

    /** Returns a text for people, cut where it is too long. */
    static String cut(String text, int maxLength) {
        if (utf8Length(text) <= maxLength) {
            return text;
        }
        int end = 0;
        for (int bytes = 3; end < text.length(); ) {
            int codePoint = text.codePointAt(end);
            bytes += utf8Length(Character.toString(codePoint));
            if (bytes > maxLength) {
                break;
            }
            end += Character.charCount(codePoint);
        }
        return text.substring(0, end) + "…";
    }

    private static int utf8Length(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
