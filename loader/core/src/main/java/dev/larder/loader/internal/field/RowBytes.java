package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.client.ViewBuffer;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** The bytes of rows where they lie, whatever column they come from. Threads may share it. */
abstract class RowBytes {
    private static final Dtype BYTE = Dtype.parse("|u1");
    private static final byte[] NOTHING = {};

    /** What one thread reads rows through. What user code is given of it can neither write nor outlive the mapping. */
    static final class Window {
        private final ViewBuffer view = new ViewBuffer();
        private final UnsafeBuffer copy = new UnsafeBuffer(NOTHING);
        private final long[] one = new long[1];
    }

    private final String column;
    private final Dtype dtype;
    private final long rows;

    private RowBytes(String column, Dtype dtype, long rows) {
        this.column = column;
        this.dtype = dtype;
        this.rows = rows;
    }

    static RowBytes of(StringsColumn texts, long atMost) {
        return new RowBytes(texts.name(), BYTE, texts.rows()) {
            @Override
            DirectBuffer read(long row, Window window) {
                texts.utf8(row, atMost, window.view);
                return window.view;
            }

            @Override
            boolean isOpen() {
                return texts.isOpen();
            }
        };
    }

    static RowBytes of(BytesColumn files, long atMost) {
        return new RowBytes(files.name(), BYTE, files.rows()) {
            @Override
            DirectBuffer read(long row, Window window) {
                files.row(row, atMost, window.view);
                return window.view;
            }

            @Override
            boolean isOpen() {
                return files.isOpen();
            }
        };
    }

    /** Takes at most so many items of each row. */
    static RowBytes of(RaggedColumn ragged, long atMost) {
        return new RowBytes(ragged.name(), ragged.dtype(), ragged.rows()) {
            @Override
            DirectBuffer read(long row, Window window) {
                long items = ragged.dimensions() == 0 ? 1 : ragged.dimension(row, 0);
                long bytes = ragged.byteSize(row);
                ragged.row(row, items > atMost ? bytes / items * atMost : bytes, window.view);
                return window.view;
            }

            @Override
            boolean isOpen() {
                return ragged.isOpen();
            }
        };
    }

    static RowBytes of(ArrayView array) {
        boolean whole = DeviceFields.mayBeResident(array);
        return new RowBytes(array.name(), array.dtype(), array.rows()) {
            @Override
            DirectBuffer read(long row, Window window) {
                if (whole) {
                    array.row(row, window.view);
                    return window.view;
                }
                int length = Math.toIntExact(array.rowByteSize()); // in Fortran order a row lies in pieces
                if (window.copy.capacity() != length) {
                    window.copy.wrap(new byte[length]);
                }
                window.one[0] = row;
                array.copyRows(window.one, 0, 1, window.copy, 0);
                return window.copy;
            }

            @Override
            long @Nullable [] rowShape() {
                return Arrays.copyOfRange(array.shape(), 1, array.dimensions());
            }

            @Override
            boolean isOpen() {
                return array.isOpen();
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

    /** Returns the mean length of the first rows in bytes. */
    final long meanByteSize() {
        Window window = new Window();
        long some = Math.min(64, rows);
        return (long) LongStream.range(0, some)
                .map(row -> byteSize(row, window))
                .average()
                .orElse(0);
    }

    private long byteSize(long row, Window window) {
        try {
            return read(row, window).capacity();
        } catch (RuntimeException unfit) { // who reads that row is told; here it is only about how long rows are
            return 0;
        }
    }

    /** Returns a row's bytes where they lie, or a copy of them in the window; until the next call with this window. */
    abstract DirectBuffer read(long row, Window window);

    abstract boolean isOpen();

    /** Returns the shape that all rows have; null where they differ. */
    long @Nullable [] rowShape() {
        return null;
    }
}
