package dev.larder.loader.internal.field;

import org.jspecify.annotations.Nullable;

/** Finds which dataset a sample is from, and its row there. Threads may share it. */
final class ConcatLookup extends RowLookup {
    private final long[] firstSamples;

    /** What is added to a row of each dataset: 0 where its reader counts its own. */
    private final long[] firstRows;

    private final @Nullable RowLookup[] lookups;

    /**
     * Takes datasets that follow each other.
     *
     * @param firstSamples the first sample of each, and after the last how many there are
     * @param lookups what finds the rows of samples in each; null where they are the samples themselves
     */
    ConcatLookup(String keys, long[] firstSamples, long[] firstRows, @Nullable RowLookup[] lookups) {
        super(keys, firstSamples[firstSamples.length - 1]);
        this.firstSamples = firstSamples;
        this.firstRows = firstRows;
        this.lookups = lookups;
    }

    /** Returns which dataset a sample is from. */
    int part(long sample) {
        return part(firstSamples, sample);
    }

    /** Returns the last of some numbers that ascend, 0 the first, that is not above another. */
    static int part(long[] firsts, long number) {
        int part = 0;
        while (part + 2 < firsts.length && number >= firsts[part + 1]) {
            part++;
        }
        return part;
    }

    @Override
    long find(long row, long epoch, long position) {
        return firstRows[part(row)] + findInDataset(row, epoch, position);
    }

    @Override
    long findInDataset(long row, long epoch, long position) {
        int part = part(row);
        long own = row - firstSamples[part];
        RowLookup lookup = lookups[part];
        return lookup == null ? own : lookup.find(own, epoch, position);
    }
}
