package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.BytesColumn;
import dev.larder.client.Dataset;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.client.ViewBuffer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.Objects;
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

    /** The file of the rows, which may not be in memory; null if it is. */
    private final @Nullable DiskRows disk;

    private SourceRows(String column, @Nullable DiskRows disk, Dtype dtype, long rows, long... shape) {
        this.column = column;
        this.disk = disk;
        this.dtype = dtype;
        this.rows = rows;
        this.shape = shape;
        this.itemByteSize = new OutputArray(column, dtype, shape).rowByteSize();
    }

    /** Opens the array or column of a field in one dataset. */
    static SourceRows of(Dataset dataset, FieldSpec field, DiskRows.OpenFiles files) {
        long atMost = field.truncateAt();
        String column = field.column();
        return switch (field.form()) {
            case ROWS, WINDOWS -> of(dataset, array(dataset, field), field.window(), files);
            case TEXTS -> of(dataset.strings(column), files.rows(dataset, column, ColumnPart.STRINGS_BYTES), atMost);
            case FILES -> of(dataset.bytes(column), files.rows(dataset, column, ColumnPart.BYTES_VALUES), atMost);
            default ->
                of(
                        dataset.ragged(column),
                        files.rows(dataset, column, ColumnPart.RAGGED_VALUES),
                        atMost,
                        field.makesRows());
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

    private static SourceRows of(
            Dataset dataset, ArrayView array, FieldSpec.@Nullable Window window, DiskRows.OpenFiles files) {
        boolean inPlace = DeviceFields.mayBeResident(array);
        boolean isEmpty = array.byteSize() == 0;
        DiskRows disk = inPlace && !isEmpty ? files.rows(dataset, array.name(), ColumnPart.NONE) : null;
        long[] shape = Arrays.copyOfRange(array.shape(), 1, array.dimensions());
        long stride = window == null ? array.rowByteSize() : array.rowByteSize() / window.length();
        return new SourceRows(array.name(), disk, array.dtype(), array.rows(), shape) {
            @Override
            ArrayView array() {
                return array;
            }

            @Override
            long position(long row) {
                return Objects.checkIndex(row, rows()) * stride;
            }

            @Override
            long byteSize(long row) {
                return array.rowByteSize();
            }

            @Override
            DirectBuffer readMapped(long row, Window window) {
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

    private static SourceRows of(StringsColumn texts, @Nullable DiskRows disk, long atMost) {
        return new SourceRows(texts.name(), disk, BYTE, texts.rows()) {
            @Override
            long length(long row) {
                return byteSize(row);
            }

            @Override
            long position(long row) {
                return texts.position(row);
            }

            @Override
            long byteSize(long row) {
                return Math.min(atMost, texts.byteSize(row));
            }

            @Override
            void copyMapped(long row, MutableDirectBuffer target, int offset) {
                texts.copy(row, atMost, target, offset);
            }

            @Override
            DirectBuffer readMapped(long row, Window window) {
                texts.utf8(row, atMost, window.view);
                return window.view;
            }

            @Override
            boolean isOpen() {
                return texts.isOpen();
            }
        };
    }

    private static SourceRows of(BytesColumn files, @Nullable DiskRows disk, long atMost) {
        return new SourceRows(files.name(), disk, BYTE, files.rows()) {
            @Override
            long length(long row) {
                return byteSize(row);
            }

            @Override
            long position(long row) {
                return files.position(row);
            }

            @Override
            long byteSize(long row) {
                return Math.min(atMost, files.byteSize(row));
            }

            @Override
            void copyMapped(long row, MutableDirectBuffer target, int offset) {
                files.copy(row, atMost, target, offset);
            }

            @Override
            DirectBuffer readMapped(long row, Window window) {
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
    private static SourceRows of(RaggedColumn ragged, @Nullable DiskRows disk, long atMost, boolean bytes) {
        if (ragged.dimensions() == 0 && !bytes) {
            throw Failure.of(ErrorCode.BAD_INPUT, "rows of this column have no dimensions")
                    .with("column", ragged.name())
                    .remedy("save each row as a 1-d array");
        }
        long[] inner = LongStream.range(1, ragged.dimensions())
                .map(i -> ragged.rows() == 0 ? 0 : ragged.dimension(0, (int) i))
                .toArray();
        return new SourceRows(ragged.name(), disk, ragged.dtype(), ragged.rows(), inner) {
            @Override
            long length(long row) {
                requireLikeFirst(ragged, inner, row);
                return Math.min(atMost, ragged.dimension(row, 0));
            }

            @Override
            void copyMapped(long row, MutableDirectBuffer target, int offset) {
                ragged.copy(row, length(row) * itemByteSize(), target, offset);
            }

            @Override
            long position(long row) {
                return ragged.position(row);
            }

            @Override
            long byteSize(long row) {
                long items = ragged.dimensions() == 0 ? 1 : ragged.dimension(row, 0);
                long length = ragged.byteSize(row);
                return items > atMost ? length / items * atMost : length;
            }

            @Override
            DirectBuffer readMapped(long row, Window window) {
                ragged.row(row, byteSize(row), window.view);
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
                        .remedy(
                                "in batches only the first may differ: read such rows one by one, or load pictures with --as images");
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

    /** Returns the position of a row's first byte among the stored bytes. */
    abstract long position(long row);

    /** Returns how many bytes of a row are taken. */
    abstract long byteSize(long row);

    /** Returns the file of the rows, which may not be in memory, or null if it is. */
    final @Nullable DiskRows disk() {
        return disk;
    }

    /** Copies rows of one length to consecutive places of a target. */
    final void copyRows(long[] numbers, int first, int count, MutableDirectBuffer target, int offset) {
        if (disk == null || !disk.isRead()) {
            Objects.requireNonNull(array()).copyRows(numbers, first, count, target, offset);
        } else {
            disk.read(this, numbers, first, count, target, offset);
            requireOpen();
        }
    }

    /** Copies the items of a ragged row that are taken. */
    final void copy(long row, MutableDirectBuffer target, int offset) {
        if (disk == null || !disk.isRead()) {
            copyMapped(row, target, offset);
        } else {
            long length = Math.min(byteSize(row), length(row) * itemByteSize);
            disk.read(this, row, Math.toIntExact(length), target, offset);
            requireOpen();
        }
    }

    /** Returns a row's bytes, or a copy of them in the window or of the thread, until its next call. */
    final DirectBuffer read(long row, Window window) {
        if (disk == null || !disk.isRead()) {
            return readMapped(row, window);
        }
        DirectBuffer bytes = disk.read(this, row);
        requireOpen();
        return bytes;
    }

    private void requireOpen() {
        if (!isOpen()) {
            throw new IllegalStateException("the dataset was closed while a row was read: array=" + column);
        }
    }

    void copyMapped(long row, MutableDirectBuffer target, int offset) {
        throw new IllegalStateException("rows are of one length: array=" + column);
    }

    abstract DirectBuffer readMapped(long row, Window window);

    /** Returns the mean length of the first rows in bytes. */
    final long meanByteSize() {
        ArrayView array = array();
        if (array != null) {
            return array.rowByteSize();
        }
        return (long) LongStream.range(0, Math.min(64, rows))
                .map(this::byteSizeIfSound)
                .average()
                .orElse(0);
    }

    private long byteSizeIfSound(long row) {
        try {
            return byteSize(row);
        } catch (RuntimeException unfit) { // the batch with this row fails, and names it
            return 0;
        }
    }
}
