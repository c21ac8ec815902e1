package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.internal.slot.Receipt;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A store with one dataset, opened, for a test of loaders. All tests of a class share one that is a static
 * {@code @RegisterExtension}, which closes it after them.
 */
final class Shelf implements AutoCloseable, AfterAllCallback {
    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    final Dataset dataset;

    private Shelf(Map<String, FixtureArray> arrays) {
        store.publish("shelf", arrays);
        larder = Larder.connect(store.store());
        dataset = larder.dataset("shelf");
        arrays.keySet().forEach(dataset::array); // mapped from now on, and not since the first test that reads them
    }

    static Shelf of(Map<String, FixtureArray> arrays) {
        return new Shelf(arrays);
    }

    /** Publishes {@code images}, a row of noise for each sample, and {@code labels}, whose value is the row. */
    static Shelf ofSamples(int rows, int rowBytes) {
        return of(Map.of("images", noise(rows, rowBytes), "labels", labels(rows)));
    }

    static FixtureArray labels(int rows) {
        return FixtureArray.ints(IntStream.range(0, rows).toArray(), rows);
    }

    static FixtureArray noise(int rows, int rowBytes) {
        return FixtureArray.bytes(noiseBytes(rows * rowBytes), rows, rowBytes);
    }

    static byte[] noiseBytes(int length) {
        byte[] bytes = new byte[length];
        new java.util.Random(1).nextBytes(bytes);
        return bytes;
    }

    /** Reads the labels of an epoch, batch by batch. */
    static List<List<Integer>> labels(Epoch epoch) {
        List<List<Integer>> batches = new ArrayList<>();
        for (Batch batch : epoch) {
            batches.add(labels(batch));
        }
        return batches;
    }

    static List<Integer> labels(Batch batch) {
        ByteBuffer labels = batch.array("labels").byteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        return IntStream.range(0, batch.size())
                .map(i -> labels.getInt(i * Integer.BYTES))
                .boxed()
                .toList();
    }

    static List<Integer> flat(List<List<Integer>> batches) {
        return batches.stream().flatMap(List::stream).toList();
    }

    static long checksum(Epoch epoch) {
        BatchChecksum checksum = new BatchChecksum();
        epoch.forEach(checksum::update);
        return checksum.value();
    }

    /** Returns the receipt of an epoch that has visited these rows, one after the other. */
    String receipt(List<Long> visited) {
        long sum = 0;
        for (int i = 0; i < visited.size(); i++) {
            sum += Receipt.term(i, visited.get(i));
        }
        return Receipt.ofDataset(dataset.digest()).plus(new Receipt(sum, 0)).toString();
    }

    Path store() {
        return store.store();
    }

    /** Returns how many gather threads live in this JVM. */
    static long gatherThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("larder-gather-"))
                .count();
    }

    /** Returns how many threads for devices live in this JVM. */
    static long deviceThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("larder-(upload|retire|fake-.*)"))
                .count();
    }

    static Map<String, FixtureArray> arrays(String name, FixtureArray array) {
        return new HashMap<>(Map.of(name, array));
    }

    /** Publishes the next version and removes the files of the open one, as retiring and evicting do. */
    void replaceAndUnlink(Map<String, FixtureArray> arrays) {
        long version = dataset.version();
        store.publish("shelf", arrays);
        store.unlink("shelf", version);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        dataset.close();
        larder.close();
        store.close();
    }
}
