package dev.larder.internal.column;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/** Encodes texts into one reused buffer. Refuses invalid Unicode. */
final class Utf8 {
    private static final int INITIAL_BYTES = 1 << 10;

    private final CharsetEncoder encoder = StandardCharsets.UTF_8.newEncoder();
    private ByteBuffer buffer = ByteBuffer.allocate(INITIAL_BYTES);

    /** Returns the UTF-8 of a text. It is valid until the next call. */
    ByteBuffer encode(CharSequence text) {
        int limit = Math.multiplyExact(3, text.length());
        if (buffer.capacity() < limit) {
            buffer = ByteBuffer.allocate(limit);
        }
        CoderResult result = encoder.reset().encode(CharBuffer.wrap(text), buffer.clear(), true);
        if (result.isError()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "text is not Unicode")
                    .with("text", shown(text))
                    .with("reason", "it has an unpaired surrogate")
                    .remedy("encode it differently, or store raw bytes");
        }
        return buffer.flip();
    }

    /** Returns the beginning of a text, without control characters, for messages. */
    static String shown(CharSequence text) {
        int length = Math.min(text.length(), 80);
        String beginning = text.subSequence(0, length).toString();
        return beginning.replaceAll("[\\p{Cc}\\p{Cs}]", "?") + (length < text.length() ? "..." : "");
    }
}
