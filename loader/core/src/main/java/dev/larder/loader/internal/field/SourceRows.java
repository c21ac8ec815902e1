package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.Dataset;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.client.ViewBuffer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** The rows of an array or column as they are stored. Threads may share it, each with a {@link Window}. */
abstract class SourceRows {
    private static final Dtype BYTE = Dtype.parse("|u1");
    private static final byte[] NOTHING = {};

    /** One thread's access to rows. The user's code gets it: it is read-only, and fails after the dataset is closed. */
    static final class Window {
        private final ViewBuffer view = new ViewBuffer();
        private final UnsafeBuffer copy = new UnsafeBuffer(NOTHING);
        private final long[] one = new long[1];
    }

    private final String column;
    private final Dtype dtype;
    private final long rows;
    private final long[] shape;
    private final long itemByteSize;

    private SourceRows(String column, Dtype dtype, long rows, long... shape) {
        this.column = column;
        this.dtype = dtype;
        this.rows = rows;
        this.shape = shape;
        this.itemByteSize = new OutputArray(column, dtype, shape).rowByteSize();
    }

    /** Opens the array or column of a field in one dataset. */
    static SourceRows of(Dataset dataset, FieldSpec field) {
        long atMost = field.truncateAt();
        return switch (field.form()) {
            case ROWS, WINDOWS -> of(array(dataset, field));
            case TEXTS -> of(dataset.strings(field.column()), atMost);
            case FILES -> of(dataset.bytes(field.column()), atMost);
            default -> of(dataset.ragged(field.column()), atMost, field.makesRows());
        };
    }

    private static ArrayView array(Dataset dataset, FieldSpec field) {
        ArrayView array = dataset.array(field.column());
        if (array.dimensions() == 0) {
            throw unfit(dataset, array, "a 0-d array has no rows; leave it out of arrays(…)");
        }
        FieldSpec.Window window = field.window();
        if (window == null) {
            return array;
        }
        if (array.rows() < window.length()) {
            throw unfit(dataset, array, "its " + array.rows() + " rows are fewer than a window's " + window.length());
        }
        return array.windows(window.length());
    }

    private static RuntimeException unfit(Dataset dataset, ArrayView array, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot make batches of this array")
                .with("dataset", dataset.name())
                .with("version", dataset.version())
                .with("array", array.name())
                .remedy(remedy);
    }

    private static SourceRows of(ArrayView array) {
        boolean inPlace = DeviceFields.mayBeResident(array);
        long[] shape = Arrays.copyOfRange(array.shape(), 1, array.dimensions());
        return new SourceRows(array.name(), array.dtype(), array.rows(), shape) {
            @Override
            ArrayView array() {
                return array;
            }

            @Override
            DirectBuffer read(long row, Window window) {
                if (inPlace) {
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
            boolean isOpen() {
                return array.isOpen();
            }
        };
    }

    private static SourceRows of(StringsColumn texts, long atMost) {
        return new SourceRows(texts.name(), BYTE, texts.rows()) {
            @Override
            long length(long row) {
                return Math.min(atMost, texts.byteSize(row));
            }

            @Override
            void copy(long row, MutableDirectBuffer target, int offset) {
                texts.copy(row, atMost, target, offset);
            }

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

    private static SourceRows of(BytesColumn files, long atMost) {
        return new SourceRows(files.name(), BYTE, files.rows()) {
            @Override
            long length(long row) {
                return Math.min(atMost, files.byteSize(row));
            }

            @Override
            void copy(long row, MutableDirectBuffer target, int offset) {
                files.copy(row, atMost, target, offset);
            }

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

    /**
     * Takes the dimensions after the first from the first row; {@link #length} fails for a row that has others.
     *
     * @param bytes whether a step takes the bytes of rows of any shape
     */
    private static SourceRows of(RaggedColumn ragged, long atMost, boolean bytes) {
        if (ragged.dimensions() == 0 && !bytes) {
            throw Failure.of(ErrorCode.BAD_INPUT, "rows of this column have no dimensions")
                    .with("column", ragged.name())
                    .remedy("save each row as a 1-d array");
        }
        long[] inner = LongStream.range(1, ragged.dimensions())
                .map(i -> ragged.rows() == 0 ? 0 : ragged.dimension(0, (int) i))
                .toArray();
        return new SourceRows(ragged.name(), ragged.dtype(), ragged.rows(), inner) {
            @Override
            long length(long row) {
                requireLikeFirst(ragged, inner, row);
                return Math.min(atMost, ragged.dimension(row, 0));
            }

            @Override
            void copy(long row, MutableDirectBuffer target, int offset) {
                ragged.copy(row, length(row) * itemByteSize(), target, offset);
            }

            @Override
            DirectBuffer read(long row, Window window) {
                long items = ragged.dimensions() == 0 ? 1 : ragged.dimension(row, 0);
                long length = ragged.byteSize(row);
                ragged.row(row, items > atMost ? length / items * atMost : length, window.view);
                return window.view;
            }

            @Override
            boolean isOpen() {
                return ragged.isOpen();
            }
        };
    }

    private static void requireLikeFirst(RaggedColumn ragged, long[] inner, long row) {
        for (int i = 0; i < inner.length; i++) {
            long size = ragged.dimension(row, i + 1);
            if (size != inner[i]) {
                throw Failure.of(ErrorCode.BAD_INPUT, "rows differ in more than their first dimension")
                        .with("column", ragged.name())
                        .with("row", row)
                        .with("dimension", i + 1)
                        .with("size", size)
                        .with("firstRow", inner[i])
                        .remedy("only the first dimension may differ from row to row");
            }
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

    /** Returns the shape of a row of an array; of one item of ragged rows. */
    final long[] shape() {
        return shape.clone();
    }

    /** Returns the length of one item in bytes. */
    final long itemByteSize() {
        return itemByteSize;
    }

    /** Returns the array, or null if the rows are those of a column, which differ in length. */
    @Nullable
    ArrayView array() {
        return null;
    }

    abstract boolean isOpen();

    /** Returns how many items of a ragged row are taken; fails for a row unlike the others. */
    long length(long row) {
        return 1;
    }

    /** Copies the items of a ragged row that are taken. */
    void copy(long row, MutableDirectBuffer target, int offset) {
        throw new IllegalStateException("rows are of one length: array=" + column);
    }

    /** Returns a row's bytes, or a copy of them in the window, until the next call with this window. */
    abstract DirectBuffer read(long row, Window window);

    /** Returns the mean length of the first rows in bytes. */
    final long meanByteSize() {
        ArrayView array = array();
        if (array != null) {
            return array.rowByteSize();
        }
        Window window = new Window();
        return (long) LongStream.range(0, Math.min(64, rows))
                .map(row -> byteSize(row, window))
                .average()
                .orElse(0);
    }

    private long byteSize(long row, Window window) {
        try {
            return read(row, window).capacity();
        } catch (RuntimeException unfit) { // the batch with this row fails, and names it
            return 0;
        }
    }
}
