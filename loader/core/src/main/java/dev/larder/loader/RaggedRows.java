package dev.larder.loader;

import dev.larder.client.BytesColumn;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.npy.Dtype;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Rows of different lengths, whatever column they come from; a length counts items along the first dimension. */
abstract class RaggedRows {
    private static final Dtype BYTE = Dtype.parse("|u1");

    private final String column;
    private final Dtype dtype;
    private final long[] rowShape;
    private final int itemByteSize;
    private final long rows;
    private final long atMost;

    private RaggedRows(String column, Dtype dtype, long[] rowShape, long rows, long atMost) {
        this.column = column;
        this.dtype = dtype;
        this.rowShape = rowShape;
        this.rows = rows;
        this.atMost = atMost;
        this.itemByteSize = Math.toIntExact(new OutputArray(column, dtype, rowShape).rowByteSize());
    }

    /** Takes the rows of a ragged column, of each at most so many items. */
    static RaggedRows of(RaggedColumn ragged, long atMost) {
        if (ragged.rank() == 0) {
            throw Failure.of(ErrorCode.BAD_INPUT, "rows of this column have no dimensions")
                    .with("column", ragged.name())
                    .remedy("save its rows as arrays of one number at least");
        }
        return new OfRagged(ragged, PackedReader.innerShape(ragged), atMost);
    }

    /** Takes the UTF-8 of texts. */
    static RaggedRows of(StringsColumn texts) {
        return new RaggedRows(texts.name(), BYTE, new long[0], texts.rows(), Long.MAX_VALUE) {
            @Override
            long fullLength(long row) {
                return texts.byteSize(row);
            }

            @Override
            void copy(long row, UnsafeBuffer target, int offset, @Nullable Object scratch) {
                texts.copy(row, target, offset);
            }

            @Override
            boolean isOpen() {
                return texts.isOpen();
            }
        };
    }

    /** Takes raw bytes. */
    static RaggedRows of(BytesColumn files) {
        return new RaggedRows(files.name(), BYTE, new long[0], files.rows(), Long.MAX_VALUE) {
            @Override
            long fullLength(long row) {
                return files.byteSize(row);
            }

            @Override
            void copy(long row, UnsafeBuffer target, int offset, @Nullable Object scratch) {
                files.copy(row, target, offset);
            }

            @Override
            boolean isOpen() {
                return files.isOpen();
            }
        };
    }

    final String column() {
        return column;
    }

    final Dtype dtype() {
        return dtype;
    }

    final long rows() {
        return rows;
    }

    final long atMost() {
        return atMost;
    }

    /** Returns the dimensions after the first, which all rows share. */
    final long[] rowShape() {
        return rowShape;
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
        for (int i = 0; i < some; i++) {
            sum += length(i);
        }
        return some == 0 ? 0 : sum / some * itemByteSize;
    }

    abstract long fullLength(long row);

    abstract void copy(long row, UnsafeBuffer target, int offset, @Nullable Object scratch);

    abstract boolean isOpen();

    private static final class OfRagged extends RaggedRows {
        private final RaggedColumn column;

        OfRagged(RaggedColumn column, long[] rowShape, long atMost) {
            super(column.name(), column.dtype(), rowShape, column.rows(), atMost);
            this.column = column;
        }

        @Override
        long fullLength(long row) {
            long[] inner = rowShape();
            for (int i = 0; i < inner.length; i++) {
                if (column.dimension(row, i + 1) != inner[i]) {
                    throw Failure.of(ErrorCode.BAD_INPUT, "rows differ in more than their first dimension")
                            .with("column", column.name())
                            .with("row", row)
                            .with("dimension", i + 1)
                            .with("size", column.dimension(row, i + 1))
                            .with("firstRow", inner[i])
                            .remedy("only the first dimension may differ from row to row");
                }
            }
            return column.dimension(row, 0);
        }

        @Override
        void copy(long row, UnsafeBuffer target, int offset, @Nullable Object scratch) {
            column.copy(row, length(row) * itemByteSize(), target, offset);
        }

        @Override
        boolean isOpen() {
            return column.isOpen();
        }
    }
}
