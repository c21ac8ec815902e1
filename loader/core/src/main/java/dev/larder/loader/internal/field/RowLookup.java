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
    /** The most texts whose rows are remembered. */
    private static final int MOST_REMEMBERED = 1 << 27;

    /** Finds the row of a sample, which may depend on its place in the epoch. */
    @FunctionalInterface
    interface Finder {
        long find(long row, long epoch, long position);
    }

    private final String keys;
    private final long rows;
    private final Finder finder;

    /**
     * Takes a finder of rows.
     *
     * @param keys the name of the array or column with a key for each sample
     * @param rows how many samples there are keys for
     */
    RowLookup(String keys, long rows, Finder finder) {
        this.keys = keys;
        this.rows = rows;
        this.finder = finder;
    }

    /** Takes the rows from an array of whole numbers. */
    static RowLookup of(Dataset dataset, String array) {
        ArrayView numbers = integers(dataset, array);
        return new RowLookup(array, numbers.rows(), (row, epoch, position) -> numbers.getLong(row));
    }

    /** Takes keys from an array of whole numbers or a column of texts, and finds their rows in an index. */
    static RowLookup of(Dataset dataset, String keys, String indexName) {
        IndexColumn index = dataset.index(indexName);
        if (index.hasIntegerKeys()) {
            ArrayView numbers = integers(dataset, keys);
            return new RowLookup(keys, numbers.rows(), (row, epoch, position) -> index.row(numbers.getLong(row)));
        }
        StringsColumn texts = dataset.strings(keys);
        return new RowLookup(keys, texts.rows(), remembering(texts, index));
    }

    /** Finds each text once, as making a string for each would be garbage in every epoch. */
    private static Finder remembering(StringsColumn texts, IndexColumn index) {
        if (texts.rows() > MOST_REMEMBERED) {
            return (row, epoch, position) -> index.row(texts.get(row));
        }
        AtomicLongArray found = new AtomicLongArray((int) texts.rows());
        return (row, epoch, position) -> {
            if (row >= found.length()) {
                return index.row(texts.get(row)); // fails
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
     * Finds the rows of datasets that follow each other, each counted in its own dataset.
     *
     * @param firstSamples the first sample of each dataset, and after the last how many there are
     * @param lookups find the rows of samples in each; null if they have the same numbers
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

    /** Returns the number of the dataset that a sample is from. */
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

    /** Returns how many samples there are keys for. */
    long rows() {
        return rows;
    }

    /** Returns the name of the array or column of keys. */
    String keys() {
        return keys;
    }

    /** Returns one that finds the row so many rows further on. */
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
