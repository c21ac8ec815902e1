package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.field.SourceData.Joins;
import dev.larder.loader.sample.Mixture;
import java.util.List;

/**
 * Makes one source of several datasets.
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
     * Puts the rows of datasets one after the other: row 0 of the second has the number that comes after the last of the first. All have what the
     * fields name, with the same dtypes and row shapes. Looked up rows are those of the sample's own dataset; windows do not cross from
     * one to the next.
     */
    public static Source concat(Dataset... datasets) {
        return new Source(new SourceData(List.of(datasets), Joins.CONCAT, null), null);
    }

    /**
     * Puts the rows of datasets side by side: sample {@code i} has row {@code i} of each, so all have equally many. A field is read from the
     * dataset that has it; where several do, {@link Field#from} says which. That the rows belong together is up to you; {@link
     * #zip(String, Dataset...)} checks it.
     */
    public static Source zip(Dataset... datasets) {
        return new Source(new SourceData(List.of(datasets), Joins.ZIP, null), null);
    }

    /**
     * Does so, and checks when a loader is built that all datasets have the same keys in the same order: an array, or a column of texts, that each
     * of them has under this name. Reads both as a whole.
     */
    public static Source zip(String key, Dataset... datasets) {
        return new Source(new SourceData(List.of(datasets), Joins.ZIP, key), null);
    }

    /**
     * Mixes datasets: at each position of the epoch stands a row of one of them, in proportion to their weights, and each is visited in the
     * order that the loader's sampler lays down for it alone. {@link Batch#row} counts rows as {@link #concat} does. See {@link Mixture}.
     */
    public static Source mix(Mixture mixture, Dataset... datasets) {
        mixture.requireSources(datasets.length);
        return new Source(new SourceData(List.of(datasets), Joins.CONCAT, null), mixture);
    }
}
