package dev.larder.djl;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.util.Map;
import java.util.stream.IntStream;

/** A store with one dataset, opened, for a test. */
final class Shelf implements AutoCloseable {
    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    final Dataset dataset;

    private Shelf(Map<String, FixtureArray> arrays) {
        store.publish("shelf", arrays);
        larder = Larder.connect(store.store());
        dataset = larder.dataset("shelf");
    }

    static Shelf of(Map<String, FixtureArray> arrays) {
        return new Shelf(arrays);
    }

    /** Publishes {@code images} of 2×3 floats, all of them the number of the row, and {@code labels}, which say it too. */
    static Shelf ofSamples(int rows) {
        float[] pixels = new float[rows * 6];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = Math.floorDiv(i, 6);
        }
        int[] labels = IntStream.range(0, rows).toArray();
        return of(Map.of(
                "images", FixtureArray.floats(pixels, rows, 2, 3),
                "labels", FixtureArray.ints(labels, rows)));
    }

    LoaderBuilder loader() {
        return Loader.over(dataset).arrays("images", "labels").batchSize(4);
    }

    @Override
    public void close() {
        dataset.close();
        larder.close();
        store.close();
    }
}
