package dev.larder.examples.distributed;

import java.util.Locale;

/** Prints output of several processes to one stream. */
final class Lines {
    private Lines() {}

    /** Prints a line in one write, so that lines of several ranks do not mix. */
    static void print(String format, Object... values) {
        System.out.print(String.format(Locale.ROOT, format, values) + System.lineSeparator());
    }
}
