package dev.larder.reader;

/** The limits of messages between the daemon and a reader, besides the length of a message. Both sides keep them. */
final class WireLimits {
    static final int MOST_DIMENSIONS = 64;

    /** Elements of a list, in all messages that it takes. */
    static final int MOST_ENTRIES = 10_000_000;

    private static final int MOST_NAME_LENGTH = 64 << 10;

    /** Three such texts fit a message, even if every character is escaped. */
    private static final int MOST_WORDS_LENGTH = 16 << 10;

    private WireLimits() {}

    /** Returns the beginning of a text for people. */
    static String cut(String words) {
        return words.length() <= MOST_WORDS_LENGTH ? words : words.substring(0, MOST_WORDS_LENGTH - 1) + "…";
    }

    static void requireShort(String name) {
        requireAtMost(MOST_NAME_LENGTH, name.length(), "characters of a name");
    }

    static void requireAtMost(int most, int found, String ofThese) {
        if (found > most) {
            throw new IllegalArgumentException("too many " + ofThese + ": found=" + found + " most=" + most);
        }
    }
}
