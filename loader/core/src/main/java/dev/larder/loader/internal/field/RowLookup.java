package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.IndexColumn;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.npy.Kind;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/** Finds the rows of samples in an array with another first dimension, in windows or in several datasets. Threads may share it. */
final class RowLookup {
    /** Maximum number of texts with cached rows. */
    private static final int MOST_REMEMBERED = 1 << 27;

    /** Finds the row of a sample, which may depend on its position in the epoch. */
    @FunctionalInterface
    interface Finder {
        long find(long row, long epoch, long position);
    }

    private final String keys;
    private final long rows;
    private final Finder finder;

    /**
     * Creates a lookup from a finder.
     *
     * @param keys the name of the array or column with a key for each sample
     * @param rows the number of samples with keys
     */
    RowLookup(String keys, long rows, Finder finder) {
        this.keys = keys;
        this.rows = rows;
        this.finder = finder;
    }

    /** Creates a lookup that reads row numbers from an array of whole numbers. */
    static RowLookup of(Dataset dataset, String array) {
        ArrayView numbers = integers(dataset, array);
        return new RowLookup(array, numbers.rows(), (row, epoch, position) -> numbers.getLong(row));
    }

    /** Creates a lookup that reads keys from an array of whole numbers or a column of texts and finds their rows in an index. */
    static RowLookup of(Dataset dataset, String keys, String indexName) {
        IndexColumn index = dataset.index(indexName);
        if (index.hasIntegerKeys()) {
            ArrayView numbers = integers(dataset, keys);
            return new RowLookup(keys, numbers.rows(), (row, epoch, position) -> index.row(numbers.getLong(row)));
        }
        StringsColumn texts = dataset.strings(keys);
        return new RowLookup(keys, texts.rows(), remembering(texts, index));
    }

    /** Finds each text once, because a string for each text in every epoch would be garbage. */
    private static Finder remembering(StringsColumn texts, IndexColumn index) {
        if (texts.rows() > MOST_REMEMBERED) {
            return (row, epoch, position) -> index.row(texts.get(row));
        }
        AtomicLongArray found = new AtomicLongArray((int) texts.rows());
        return (row, epoch, position) -> {
            if (row >= found.length()) {
                return index.row(texts.get(row)); // always fails here
            }
            long known = found.getPlain((int) row);
            if (known == 0) {
                known = index.row(texts.get(row)) + 1;
                found.setPlain((int) row, known);
            }
            return known - 1;
        };
    }

    /**
     * Creates a lookup over concatenated datasets. Rows are counted in their own dataset.
     *
     * @param firstSamples the first sample of each dataset, followed by the total number of samples
     * @param lookups the lookup for each dataset; null if row and sample numbers are equal
     */
    static RowLookup concatenated(String keys, long[] firstSamples, List<@Nullable RowLookup> lookups) {
        @Nullable RowLookup[] parts = lookups.toArray(RowLookup[]::new);
        return new RowLookup(keys, firstSamples[parts.length], (sample, epoch, position) -> {
            int part = part(firstSamples, sample);
            long own = sample - firstSamples[part];
            RowLookup lookup = parts[part];
            return lookup == null ? own : lookup.find(own, epoch, position);
        });
    }

    /** Returns the index of the sample's dataset. */
    static int part(long[] firstSamples, long sample) {
        int part = 0;
        while (part + 2 < firstSamples.length && sample >= firstSamples[part + 1]) {
            part++;
        }
        return part;
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

    /** Returns the number of samples with keys. */
    long rows() {
        return rows;
    }

    /** Returns the name of the array or column of keys. */
    String keys() {
        return keys;
    }

    /** Returns a lookup that adds {@code offset} to each row. */
    RowLookup after(long offset) {
        return new RowLookup(keys, rows, (row, epoch, position) -> find(row, epoch, position) + offset);
    }

    /** Finds the rows of all samples of a batch. */
    void find(HostSlot slot, long[] target) {
        for (int i = 0; i < slot.size; i++) {
            target[i] = find(slot.rows[i], slot.epoch, slot.positions[i]);
        }
    }

    /** Finds the row of a sample. */
    long find(long row, long epoch, long position) {
        return finder.find(row, epoch, position);
    }
}
