package dev.larder.client;

import java.util.Locale;

/**
 * A column of a dataset.
 *
 * @param name the argument for {@link Dataset#index}, {@link Dataset#strings}, {@link Dataset#ragged} or {@link Dataset#bytes}
 * @param kind which of these methods opens it
 */
public record Column(String name, Kind kind) {
    /** The kinds of columns. They store Python's lists and dicts as flat arrays. */
    public enum Kind {
        /** Rows of one dtype and number of dimensions, each of its own shape. */
        RAGGED,
        /** Texts in UTF-8. */
        STRINGS,
        /** A hash table that maps a text or an integer to a row number. */
        INDEX,
        /** Whole files, with their names. */
        BYTES;

        /** Returns the kind with this {@link #word}. Fails if there is none. */
        public static Kind of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }

        /** Returns the name of the kind in options and messages, such as {@code ragged}. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String toString() {
        return name + " (" + kind.word() + ")";
    }
}
