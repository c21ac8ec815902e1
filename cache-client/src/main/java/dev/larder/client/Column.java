package dev.larder.client;

import java.util.Locale;

/**
 * A column of a dataset.
 *
 * @param name what {@link Dataset#index}, {@link Dataset#strings}, {@link Dataset#ragged} or {@link Dataset#bytes} take
 * @param kind which of the four it is
 */
public record Column(String name, Kind kind) {
    /** What a column holds: the lists and dicts of Python, as flat arrays. */
    public enum Kind {
        /** Rows of one dtype and number of dimensions, each of its own shape. */
        RAGGED,
        /** Texts in UTF-8. */
        STRINGS,
        /** A hash table: a text or an integer leads to a row number. */
        INDEX,
        /** Whole files, with their names. */
        BYTES;

        /** Returns the kind with this {@link #word}; fails where there is none. */
        public static Kind of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }

        /** Returns the word for it in options and messages: {@code ragged}. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String toString() {
        return name + " (" + kind.word() + ")";
    }
}
