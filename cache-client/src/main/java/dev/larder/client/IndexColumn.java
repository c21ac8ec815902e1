package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A column that maps keys, all strings or all integers, to rows. A lookup allocates nothing and takes no lock. Thread-safe.
 * Methods throw {@link IllegalStateException} after the dataset is closed, and {@link UnsupportedOperationException} for a key
 * of the wrong type.
 */
public final class IndexColumn {
    /** The result of {@link #find} for an absent key. */
    public static final long ABSENT = -1;

    private final Dataset dataset;
    private final String name;
    private final @Nullable TextKeys texts;
    private final @Nullable IntegerKeys integers;

    private IndexColumn(Dataset dataset, String name, @Nullable TextKeys texts, @Nullable IntegerKeys integers) {
        this.dataset = dataset;
        this.name = name;
        this.texts = texts;
        this.integers = integers;
    }

    static IndexColumn of(Dataset dataset, String column) {
        KeyTable slots = new KeyTable(dataset, column);
        return dataset.has(column, ColumnPart.INDEX_ENTRIES)
                ? new IndexColumn(dataset, column, null, new IntegerKeys(slots))
                : new IndexColumn(dataset, column, new TextKeys(slots), null);
    }

    /** Returns the name of the column. */
    public String name() {
        return name;
    }

    /** Returns the number of keys. */
    public long size() {
        return texts != null ? texts.size() : integers().size();
    }

    /** Returns whether the keys are integers; otherwise they are texts. */
    public boolean hasIntegerKeys() {
        return integers != null;
    }

    /** Returns the row of a text, or {@link #ABSENT} if it is not a key. */
    public long find(String key) {
        Objects.requireNonNull(key, "the key is null");
        return texts().find(key);
    }

    /** Returns the row of an integer, or {@link #ABSENT} if it is not a key. */
    public long find(long key) {
        return integers().find(key);
    }

    /** Returns the row of a text. Fails with {@link ErrorCode#NOT_FOUND} if it is not a key. */
    public long row(String key) {
        long row = find(key);
        if (row == ABSENT) {
            throw noSuchKey(key);
        }
        return row;
    }

    /** Returns the row of an integer. Fails with {@link ErrorCode#NOT_FOUND} if it is not a key. */
    public long row(long key) {
        long row = integers().find(key);
        if (row == ABSENT) {
            throw noSuchKey(key);
        }
        return row;
    }

    /** Returns the k-th key in the order of insertion, as a new string; an integer in decimal. */
    public String key(long k) {
        return texts != null ? texts.key(k) : Long.toString(integers().key(k));
    }

    /** Returns the k-th key of an index of integers. */
    public long integerKey(long k) {
        return integers().key(k);
    }

    /** Returns the row of the k-th key. */
    public long rowOfKey(long k) {
        return texts != null ? texts.row(k) : integers().row(k);
    }

    private TextKeys texts() {
        if (texts == null) {
            throw new UnsupportedOperationException("keys of this index are integers: column=" + name);
        }
        return texts;
    }

    private IntegerKeys integers() {
        if (integers == null) {
            throw new UnsupportedOperationException("keys of this index are texts: column=" + name);
        }
        return integers;
    }

    private RuntimeException noSuchKey(Object key) {
        return Failure.of(ErrorCode.NOT_FOUND, "no such key")
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("column", name)
                .with("key", key)
                .with("keys", size())
                .remedy("find(key) returns -1 instead of failing");
    }

    /** Returns whether the dataset of this column is open. */
    public boolean isOpen() {
        return texts != null ? texts.isOpen() : integers().isOpen();
    }

    @Override
    public String toString() {
        return "IndexColumn{" + name + " " + (texts != null ? "texts" : "integers") + " size=" + size() + "}";
    }
}
