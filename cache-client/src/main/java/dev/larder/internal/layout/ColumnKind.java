package dev.larder.internal.layout;

import java.util.Locale;

/** What a column is made of arrays for: the lists and dicts of Python, as flat arrays. */
public enum ColumnKind {
    /** Rows of one dtype and rank, each of its own shape. */
    RAGGED,
    /** Texts in UTF-8. */
    STRINGS,
    /** A hash table: a text or an integer leads to a row number. */
    INDEX,
    /** Whole files, with their names. */
    BYTES;

    /** Returns the word for it in options and messages: {@code ragged}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
