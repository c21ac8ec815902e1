package dev.larder.loader.internal.field;

import dev.larder.client.BytesColumn;
import dev.larder.client.StringsColumn;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.npy.Dtype;
import org.jspecify.annotations.Nullable;

/** Rows of different lengths, whatever column they come from; a length counts items along the first dimension. */
abstract class RaggedRows {
    private static final Dtype BYTE = Dtype.parse("|u1");

    private final OutputArray items;
    private final int itemByteSize;
    private final long rows;
    private final long atMost;

    /** Describes rows of which at most so many items are taken; {@code items} says what they are like after transforming. */
    RaggedRows(OutputArray items, long rows, long atMost) {
        this.items = items;
        this.rows = rows;
        this.atMost = atMost;
        this.itemByteSize = Math.toIntExact(items.rowByteSize());
    }

    /** Takes the UTF-8 of texts, of each at most so many bytes. */
    static RaggedRows of(StringsColumn texts, long atMost) {
        return new RaggedRows(new OutputArray(texts.name(), BYTE), texts.rows(), atMost) {
            @Override
            long fullLength(long row) {
                return texts.byteSize(row);
            }

            @Override
            void copy(long row, SlotArray target, int item, @Nullable Object scratch) {
                texts.copy(row, atMost, target.memory(), item);
            }

            @Override
            boolean isOpen() {
                return texts.isOpen();
            }
        };
    }

    /** Takes raw bytes, of each row at most so many. */
    static RaggedRows of(BytesColumn files, long atMost) {
        return new RaggedRows(new OutputArray(files.name(), BYTE), files.rows(), atMost) {
            @Override
            long fullLength(long row) {
                return files.byteSize(row);
            }

            @Override
            void copy(long row, SlotArray target, int item, @Nullable Object scratch) {
                files.copy(row, atMost, target.memory(), item);
            }

            @Override
            boolean isOpen() {
                return files.isOpen();
            }
        };
    }

    final String column() {
        return items.name();
    }

    final Dtype dtype() {
        return items.dtype();
    }

    final long rows() {
        return rows;
    }

    /** Returns the dimensions after the first, which all rows share. */
    final long[] rowShape() {
        return items.rowShape();
    }

    /** Returns the length of one item along the first dimension, in bytes. */
    final int itemByteSize() {
        return itemByteSize;
    }

    /** Returns how many items of a row are taken. */
    final long length(long row) {
        return Math.min(atMost, fullLength(row));
    }

    /** Returns the mean length of the first rows in bytes. */
    final long meanByteSize() {
        int some = (int) Math.min(64, rows);
        long sum = 0;
        try {
            for (int i = 0; i < some; i++) {
                sum += length(i);
            }
        } catch (LarderException unfit) { // who reads that row is told; here it is only about how long rows are
            return itemByteSize;
        }
        return some == 0 ? 0 : sum / some * itemByteSize;
    }

    /** Returns how many items a row has; fails for a row that is not like the others. */
    abstract long fullLength(long row);

    /** Copies a row to where so many items lie already. */
    abstract void copy(long row, SlotArray target, int item, @Nullable Object scratch);

    abstract boolean isOpen();

    /** Tells whether {@link #copy} changes what it copies. */
    boolean isTransforming() {
        return false;
    }

    /** Returns what a thread needs to copy. */
    @Nullable
    Object newScratch() {
        return null;
    }
}
