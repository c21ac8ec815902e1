package dev.larder.examples.distributed;

import java.util.Locale;

/** Output of several processes on one stream. */
final class Lines {
    private Lines() {}

    /** Prints a line in one piece, so that those of several ranks do not mix. */
    static void print(String format, Object... values) {
        System.out.print(String.format(Locale.ROOT, format, values) + System.lineSeparator());
    }
}
