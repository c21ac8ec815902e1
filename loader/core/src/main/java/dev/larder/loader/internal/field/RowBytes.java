package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** The bytes of rows where they lie, whatever column they come from. Threads may share it. */
abstract class RowBytes {
    private static final Dtype BYTE = Dtype.parse("|u1");
    private static final byte[] NOTHING = {};

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
            void wrap(long row, UnsafeBuffer window, long[] one) {
                texts.wrap(row, window);
                cut(window, atMost);
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
            void wrap(long row, UnsafeBuffer window, long[] one) {
                files.wrap(row, window);
                cut(window, atMost);
            }

            @Override
            boolean isOpen() {
                return files.isOpen();
            }

            @Override
            @Nullable
            String fileOf(long row) {
                try {
                    return files.name(row);
                } catch (RuntimeException unnamed) { // rows may have no names
                    return null;
                }
            }
        };
    }

    /** Takes at most so many items of each row. */
    static RowBytes of(RaggedColumn ragged, long atMost) {
        return new RowBytes(ragged.name(), ragged.dtype(), ragged.rows()) {
            @Override
            void wrap(long row, UnsafeBuffer window, long[] one) {
                ragged.wrap(row, window);
                long items = ragged.dimensions() == 0 ? 1 : ragged.dimension(row, 0);
                if (items > atMost) {
                    window.wrap(window, 0, (int) (window.capacity() / items * atMost));
                }
            }

            @Override
            boolean isOpen() {
                return ragged.isOpen();
            }
        };
    }

    /** Takes rows of an array; {@code apart} where each begins where the one before ends. */
    static RowBytes of(ArrayView array, boolean apart) {
        boolean whole = apart && DeviceFields.mayBeResident(array);
        return new RowBytes(array.name(), array.dtype(), array.rows()) {
            @Override
            void wrap(long row, UnsafeBuffer window, long[] one) {
                int length = Math.toIntExact(array.rowByteSize());
                if (length == 0) {
                    window.wrap(NOTHING);
                } else if (whole) {
                    window.wrap(array.address() + Objects.checkIndex(row, array.rows()) * length, length);
                } else { // in Fortran order a row lies in pieces, and windows overlap
                    if (window.byteArray() == null || window.capacity() != length) {
                        window.wrap(new byte[length]);
                    }
                    one[0] = row;
                    array.copyRows(one, 0, 1, window, 0);
                }
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

    private static void cut(UnsafeBuffer window, long atMost) {
        if (window.capacity() > atMost) {
            window.wrap(window, 0, (int) atMost);
        }
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
        UnsafeBuffer window = new UnsafeBuffer(NOTHING);
        long[] one = new long[1];
        long some = Math.min(64, rows);
        return (long) LongStream.range(0, some)
                .map(row -> byteSize(row, window, one))
                .average()
                .orElse(0);
    }

    private long byteSize(long row, UnsafeBuffer window, long[] one) {
        try {
            wrap(row, window, one);
            return window.capacity();
        } catch (RuntimeException unfit) { // who reads that row is told; here it is only about how long rows are
            return 0;
        }
    }

    /**
     * Points a window at a row's bytes.
     *
     * @param one room for the number of one row
     */
    abstract void wrap(long row, UnsafeBuffer window, long[] one);

    abstract boolean isOpen();

    /** Returns the shape that all rows have; null where they differ. */
    long @Nullable [] rowShape() {
        return null;
    }

    /** Returns the file that a row was loaded from, where that is known. */
    @Nullable
    String fileOf(long row) {
        return null;
    }
}
