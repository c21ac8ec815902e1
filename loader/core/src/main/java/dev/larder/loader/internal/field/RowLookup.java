package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.IndexColumn;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.npy.Kind;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/** Finds, for rows of the samples, the rows of an array with another first dimension. Threads may share it. */
abstract class RowLookup {
    private final String keys;
    private final long rows;

    RowLookup(String keys, long rows) {
        this.keys = keys;
        this.rows = rows;
    }

    /** Takes the rows from an array of whole numbers. */
    static RowLookup of(Dataset dataset, String array) {
        ArrayView numbers = integers(dataset, array);
        return new RowLookup(array, numbers.rows()) {
            @Override
            long find(long row, long epoch, long position) {
                return numbers.getLong(row);
            }
        };
    }

    /** Takes keys from an array of whole numbers or a column of texts, and finds their rows in an index. */
    static RowLookup of(Dataset dataset, String keys, String indexName) {
        IndexColumn index = dataset.index(indexName);
        if (index.hasIntegerKeys()) {
            ArrayView numbers = integers(dataset, keys);
            return new RowLookup(keys, numbers.rows()) {
                @Override
                long find(long row, long epoch, long position) {
                    return index.row(numbers.getLong(row));
                }
            };
        }
        StringsColumn texts = dataset.strings(keys);
        return new Remembered(keys, texts, index);
    }

    private static ArrayView integers(Dataset dataset, String array) {
        ArrayView numbers = dataset.array(array);
        boolean whole = numbers.dtype().kind() == Kind.INT || numbers.dtype().kind() == Kind.UINT;
        if (numbers.dimensions() != 1 || !whole) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot look up rows with this array")
                    .with("dataset", dataset.name())
                    .with("version", dataset.version())
                    .with("array", array)
                    .with("dtype", numbers.dtype())
                    .with("dimensions", numbers.dimensions())
                    .remedy("name a 1-d array of whole numbers");
        }
        return numbers;
    }

    /** Returns how many samples there are keys for. */
    final long rows() {
        return rows;
    }

    /** Returns the name of the array or column of keys. */
    final String keys() {
        return keys;
    }

    /** Returns one that finds what lies so many rows further on. */
    final RowLookup after(long offset) {
        RowLookup nearer = this;
        return new RowLookup(keys, rows) {
            @Override
            long find(long row, long epoch, long position) {
                return nearer.find(row, epoch, position) + offset;
            }
        };
    }

    /** Finds the rows of all samples of a batch. */
    final void find(HostSlot slot, long[] target) {
        for (int i = 0; i < slot.size; i++) {
            target[i] = find(slot.rows[i], slot.epoch, slot.positions[i]);
        }
    }

    /** Finds the row of a sample, which may depend on where it is visited. */
    abstract long find(long row, long epoch, long position);

    /** Finds the row as the sample's own dataset counts it. */
    long findInDataset(long row, long epoch, long position) {
        return find(row, epoch, position);
    }

    /** Finds texts once, as making a string for each would be garbage in every epoch. */
    private static final class Remembered extends RowLookup {
        private final StringsColumn texts;
        private final IndexColumn index;
        private final @Nullable AtomicLongArray found;

        Remembered(String keys, StringsColumn texts, IndexColumn index) {
            super(keys, texts.rows());
            this.texts = texts;
            this.index = index;
            this.found = texts.rows() <= 1 << 27 ? new AtomicLongArray((int) texts.rows()) : null;
        }

        @Override
        long find(long row, long epoch, long position) {
            if (found == null || row >= found.length()) {
                return index.row(texts.get(row));
            }
            long known = found.getPlain((int) row);
            if (known == 0) {
                known = index.row(texts.get(row)) + 1;
                found.setPlain((int) row, known);
            }
            return known - 1;
        }
    }
}
