package dev.larder.loader.device;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchChecksum;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.transform.Transform;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** A store with pictures and labels, opened, and loaders over it. */
public final class Pictures implements AutoCloseable {
    public static final int ROWS = 500;
    public static final int BATCH = 48;

    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    public final Dataset dataset;

    public Pictures() {
        byte[] noise = new byte[ROWS * 12 * 12 * 3];
        new Random(1).nextBytes(noise);
        int[] labels = IntStream.range(0, ROWS).map(i -> i % 10).toArray();
        store.publish(
                "pictures",
                Map.of(
                        "images",
                        FixtureArray.bytes(noise, ROWS, 12, 12, 3),
                        "labels",
                        FixtureArray.ints(labels, ROWS)));
        larder = Larder.connect(store.store());
        dataset = larder.dataset("pictures");
    }

    public Path store() {
        return store.store();
    }

    /** Describes a loader of pictures that are cropped, mirrored, normalised and turned at random, and of labels as they are. */
    public LoaderBuilder loader() {
        return Loader.over(dataset)
                .arrays("images", "labels")
                .transform(
                        "images",
                        new Transform()
                                .randomCrop(10, 10, 2)
                                .randomFlip(0.5f)
                                .toFloat()
                                .normalize(new float[] {0.4f, 0.5f, 0.6f}, new float[] {0.2f, 0.3f, 0.4f})
                                .channelsFirst())
                .shuffle(11)
                .batchSize(BATCH);
    }

    public static long sum(Iterable<Batch> epoch) {
        BatchChecksum checksum = new BatchChecksum();
        epoch.forEach(checksum::update);
        return checksum.value();
    }

    public static long sum(Epoch epoch) {
        BatchChecksum checksum = new BatchChecksum();
        epoch.forEach(checksum::update);
        return checksum.value();
    }

    /** Sums up an epoch on the host. */
    public long sum(long epoch) {
        try (Loader loader = loader().build()) {
            return sum(loader.epoch(epoch));
        }
    }

    @Override
    public void close() {
        dataset.close();
        larder.close();
        store.close();
    }
}
