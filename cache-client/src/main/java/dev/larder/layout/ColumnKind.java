package dev.larder.layout;

/** What a column is made of arrays for: the lists and dicts of Python, as flat arrays. */
public enum ColumnKind {
    /** Rows of one dtype and rank, each of its own shape. */
    RAGGED,
    /** Texts in UTF-8. */
    STRINGS,
    /** A hash table: a text or an integer leads to a row number. */
    INDEX,
    /** Whole files, with their names. */
    BYTES
}
