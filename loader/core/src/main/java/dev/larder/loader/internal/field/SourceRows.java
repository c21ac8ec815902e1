package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.Dataset;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.client.ViewBuffer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** The stored rows of an array or column. Threads may share it, each with its own {@link Window}. */
final class SourceRows {
    private static final Dtype BYTE = Dtype.parse("|u1");
    private static final byte[] NOTHING = {};

    /** Points a thread's window at a row, or copies the row there. */
    @FunctionalInterface
    private interface Source {
        DirectBuffer read(long row, Window window);
    }

    /** Counts the items of a row along its first dimension. */
    @FunctionalInterface
    private interface Lengths {
        long of(long row);
    }

    /** One thread's access to rows. It is read-only for user code, and fails after the dataset is closed. */
    static final class Window {
        private final ViewBuffer view = new ViewBuffer();
        private final UnsafeBuffer copy = new UnsafeBuffer(NOTHING);
        private final long[] one = new long[1];
    }

    private final String column;
    private final Dtype dtype;
    private final long rows;
    private final long[] shape;
    private final @Nullable ArrayView array;
    private final Lengths lengths;
    private final Source source;
    private final BooleanSupplier open;

    private SourceRows(
            String column, Dtype dtype, long rows, long[] shape, Lengths lengths, Source source, BooleanSupplier open) {
        this.column = column;
        this.dtype = dtype;
        this.rows = rows;
        this.shape = shape;
        this.array = null;
        this.lengths = lengths;
        this.source = source;
        this.open = open;
    }

    private SourceRows(ArrayView array) {
        this.column = array.name();
        this.dtype = array.dtype();
        this.rows = array.rows();
        this.shape = Arrays.copyOfRange(array.shape(), 1, array.dimensions());
        this.array = array;
        this.lengths = row -> 1;
        this.source = DeviceFields.mayBeResident(array) ? inPlace(array) : inPieces(array);
        this.open = array::isOpen;
    }

    /** Opens the array or column of a field in one dataset. */
    static SourceRows of(Dataset dataset, FieldSpec field) {
        long atMost = field.truncateAt();
        return switch (field.form()) {
            case ROWS, WINDOWS -> new SourceRows(array(dataset, field));
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

    private static Source inPlace(ArrayView array) {
        return (row, window) -> {
            array.row(row, window.view);
            return window.view;
        };
    }

    /** Returns a source that gathers each row, because rows in Fortran order are not contiguous. */
    private static Source inPieces(ArrayView array) {
        int length = Math.toIntExact(array.rowByteSize());
        return (row, window) -> {
            if (window.copy.capacity() != length) {
                window.copy.wrap(new byte[length]);
            }
            window.one[0] = row;
            array.copyRows(window.one, 0, 1, window.copy, 0);
            return window.copy;
        };
    }

    private static SourceRows of(StringsColumn texts, long atMost) {
        return new SourceRows(
                texts.name(),
                BYTE,
                texts.rows(),
                new long[0],
                row -> Math.min(atMost, texts.byteSize(row)),
                (row, window) -> {
                    texts.utf8(row, atMost, window.view);
                    return window.view;
                },
                texts::isOpen);
    }

    private static SourceRows of(BytesColumn files, long atMost) {
        return new SourceRows(
                files.name(),
                BYTE,
                files.rows(),
                new long[0],
                row -> Math.min(atMost, files.byteSize(row)),
                (row, window) -> {
                    files.row(row, atMost, window.view);
                    return window.view;
                },
                files::isOpen);
    }

    /**
     * Takes the dimensions after the first from the first row. {@link #length} fails for a row with different ones.
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
        Lengths lengths = row -> {
            requireLikeFirst(ragged, inner, row);
            return Math.min(atMost, ragged.dimension(row, 0));
        };
        Source source = (row, window) -> {
            long length = Long.MAX_VALUE;
            if (atMost < Long.MAX_VALUE) {
                long items = ragged.dimensions() == 0 ? 1 : ragged.dimension(row, 0);
                length = items > atMost ? ragged.byteSize(row) / items * atMost : length;
            }
            ragged.row(row, length, window.view);
            return window.view;
        };
        return new SourceRows(ragged.name(), ragged.dtype(), ragged.rows(), inner, lengths, source, ragged::isOpen);
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

    String column() {
        return column;
    }

    Dtype dtype() {
        return dtype;
    }

    long rows() {
        return rows;
    }

    /** Returns the shape of an array's row, or of one item if rows are ragged. */
    long[] shape() {
        return shape.clone();
    }

    /** Returns the array, or null if the source is a column of ragged rows. */
    @Nullable
    ArrayView array() {
        return array;
    }

    boolean isOpen() {
        return open.getAsBoolean();
    }

    /** Returns the number of items to take from a ragged row. Fails if the row's shape does not match the others. */
    long length(long row) {
        return lengths.of(row);
    }

    /** Returns a row's bytes, or a copy of them in the window, until the next call with this window. */
    DirectBuffer read(long row, Window window) {
        return source.read(row, window);
    }

    /** Returns the mean length of the first rows in bytes. */
    long meanByteSize() {
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
        } catch (RuntimeException unfit) { // the batch with this row will fail and name the row
            return 0;
        }
    }
}
