package dev.larder.client;

/** What all columns that are read have in common. */
sealed interface ColumnView permits BytesColumn, IndexColumn, RaggedColumn, StringsColumn {
    /** Tells whether it can be read. */
    boolean isOpen();
}
