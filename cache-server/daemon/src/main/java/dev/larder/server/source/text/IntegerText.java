package dev.larder.server.source.text;

/** Tells integers from texts that only look like them. */
final class IntegerText {
    private static final int MAX_LENGTH = 20;

    private IntegerText() {}

    /** Tells whether a text is an integer of 64 bits, written so that it can be had back from its value. */
    static boolean isCanonical(String text) {
        if (text.isEmpty() || text.length() > MAX_LENGTH || !isNumeral(text)) {
            return false;
        }
        try {
            return Long.toString(Long.parseLong(text)).equals(text);
        } catch (NumberFormatException tooLarge) {
            return false;
        }
    }

    private static boolean isNumeral(String text) {
        int first = text.charAt(0) == '-' ? 1 : 0;
        for (int i = first; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return first < text.length();
    }
}
