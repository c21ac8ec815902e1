package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.field.SourceData.Joins;
import dev.larder.loader.sample.Mixture;
import java.util.List;

/**
 * Combines several datasets.
 *
 * <pre>{@code
 * Loader.over(Sources.concat(day1, day2)).shuffle(42)                       // one after the other, shuffled as one
 * Loader.over(Sources.zip("id", images, captions))                          // a row of each; ids are compared
 * Loader.over(Sources.mix(Mixture.weights(6, 3, 1), web, books, code))      // by weight, each in its own order
 * }</pre>
 *
 * <p>Samplers, shards, states, transforms, devices and feeds work with them as with one dataset: an epoch's order is a function of seed and epoch. On
 * a device their rows are streamed.
 */
public final class Sources {
    private Sources() {}

    /**
     * Concatenates datasets: row 0 of the second follows the last row of the first. All must have the arrays of the fields, with the same
     * dtypes and row shapes. Lookups stay within the dataset of the sample; windows do not cross from one dataset to the next.
     */
    public static Source concat(Dataset... datasets) {
        return new Source(new SourceData(List.of(datasets), Joins.CONCAT, null), null);
    }

    /**
     * Zips datasets: sample {@code i} has row {@code i} of each, so all must have the same number of rows. A field is read from the dataset
     * that has it; if several do, {@link Field#from} chooses. This method does not check that rows match; {@link #zip(String, Dataset...)}
     * does.
     */
    public static Source zip(Dataset... datasets) {
        return new Source(new SourceData(List.of(datasets), Joins.ZIP, null), null);
    }

    /**
     * Zips datasets, and checks, when a loader is built, that all have the same keys in the same order: an array or a column of texts with
     * this name in each. Reads all keys.
     */
    public static Source zip(String key, Dataset... datasets) {
        return new Source(new SourceData(List.of(datasets), Joins.ZIP, key), null);
    }

    /**
     * Mixes datasets: each position of the epoch has a row of one of them, in proportion to their weights. The loader's sampler orders the
     * rows of each dataset separately. {@link Batch#row} counts rows as {@link #concat} does. See {@link Mixture}.
     */
    public static Source mix(Mixture mixture, Dataset... datasets) {
        mixture.requireSources(datasets.length);
        return new Source(new SourceData(List.of(datasets), Joins.CONCAT, null), mixture);
    }
}
