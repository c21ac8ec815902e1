package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.schedules.Race;
import dev.larder.schedules.Schedules;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.Folders;
import dev.larder.testing.StoreFixture;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A consumer and two threads that fill two slots: an epoch, one that is left early, and one more. */
final class RingScenario implements Schedules.Scenario {
    private static final int ROWS = 6;

    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    private final Dataset dataset;

    RingScenario(Path root) {
        Folders.remove(root); // the fixture has a folder of its own
        store.publish("d", Map.of("rows", FixtureArray.ints(new int[] {0, 1, 2, 3, 4, 5}, ROWS)));
        larder = Larder.connect(store.store());
        dataset = larder.dataset("d");
        dataset.array("rows");
    }

    @Override
    public void run() {
        try (Loader loader = Loader.over(dataset)
                .sequential()
                .batchSize(2)
                .threads(2)
                .prefetch(2)
                .timeout(Duration.ofSeconds(30))
                .build()) {
            take(loader.epoch(0), ROWS);
            take(loader.epoch(1), 2);
            take(loader.epoch(2), ROWS);
        }
    }

    private static void take(Epoch epoch, int rows) {
        int next = 0;
        for (Batch batch : epoch) {
            for (int i = 0; i < batch.size(); i++) {
                int row = batch.array("rows")
                        .byteBuffer()
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getInt(i * Integer.BYTES);
                Race.require(row == next, "row " + row + " in the place of row " + next);
                next++;
            }
            if (next == rows) {
                break;
            }
        }
        Race.require(next == rows, "rows: " + next);
    }

    @Override
    public void close() {
        larder.close();
        store.close();
    }
}
