package dev.larder.launch.process;

import java.nio.charset.StandardCharsets;

/**
 * A line that a process wrote, without its end.
 *
 * @param raw its bytes, a character for each byte (ISO 8859-1), so that bytes other than UTF-8 are not lost
 * @param isError whether it came from standard error, if the streams are separate
 * @param isOverwritten whether it ended with a carriage return only, like progress bars: the next line replaces it
 */
public record OutputLine(String raw, boolean isError, boolean isOverwritten) {
    /** Returns a line for a text. */
    public static OutputLine of(String text, boolean isError, boolean isOverwritten) {
        String raw = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        return new OutputLine(raw, isError, isOverwritten);
    }

    /** Returns its bytes. */
    public byte[] bytes() {
        return raw.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns it as a text; bytes that are not UTF-8 become U+FFFD. */
    public String text() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }
}
