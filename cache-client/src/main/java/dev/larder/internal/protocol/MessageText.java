package dev.larder.internal.protocol;

import java.nio.charset.StandardCharsets;

/** Measures and truncates texts by their length in UTF-8. */
final class MessageText {
    /** The maximum length of a text for people. In JSON a byte may need 6 bytes, and several such texts must fit into a message. */
    static final int MAX_BYTES = 32 * 1024;

    private MessageText() {}

    /** Returns a text for people, truncated if it is too long. */
    static String cut(String text, int maxBytes) {
        if (text.length() <= maxBytes / 3 || bytes(text) <= maxBytes) {
            return text;
        }
        int end = 0;
        for (int bytes = 3; end < text.length(); ) {
            int codePoint = text.codePointAt(end);
            bytes += bytes(Character.toString(codePoint));
            if (bytes > maxBytes) {
                break;
            }
            end += Character.charCount(codePoint);
        }
        return text.substring(0, end) + "…";
    }

    /** Returns the length of a text in bytes. */
    static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
