package dev.larder.loader.fanout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/** A store without a daemon, with a dataset of noise whose labels say which row it is, and of texts of several lengths. */
final class Gallery implements AutoCloseable {
    static final String RING = "run1";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final StoreFixture store = StoreFixture.create();
    final Larder larder;
    final Dataset dataset;
    final Loader loader;
    private final int batch;

    Gallery(int rows, int rowBytes, int batch) {
        byte[] noise = new byte[rows * rowBytes];
        new Random(1).nextBytes(noise);
        Map<String, FixtureArray> arrays = new LinkedHashMap<>();
        arrays.put("images", FixtureArray.bytes(noise, rows, rowBytes));
        arrays.put("labels", FixtureArray.ints(IntStream.range(0, rows).toArray(), rows));
        words(rows).forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
        store.publish("pictures", arrays);
        larder = Larder.connect(store.store());
        dataset = larder.dataset("pictures");
        this.batch = batch;
        loader = builder().build();
    }

    private LoaderBuilder builder() {
        return Loader.over(dataset).arrays("images", "labels").shuffle(42).batchSize(batch);
    }

    /** Makes another one like {@link #loader}, which gathers into a ring; the caller closes it. */
    Loader loaderInto(BatchPublisher publisher) {
        return builder().into(publisher.slots()).build();
    }

    /** Makes rows of one to seven zeros. */
    private static List<ColumnArray> words(int rows) {
        RaggedBuilder words = new RaggedBuilder(Dtype.parse("<i4"), 1);
        for (int row = 0; row < rows; row++) {
            int count = row % 7 + 1;
            words.add(ByteBuffer.allocateDirect(count * Integer.BYTES), count);
        }
        return words.arrays("words");
    }

    String path() {
        return store.store().toString();
    }

    Path ring() {
        return store.layout().ring(RING);
    }

    BatchPublisherBuilder publisher() {
        return BatchPublisher.of(larder, RING).timeout(TIMEOUT);
    }

    SharedBatchesBuilder consumer() {
        return SharedBatches.of(larder, RING).timeout(TIMEOUT);
    }

    /** Returns the checksum of whole epochs as the loader gives them. */
    long checksum(long epochs) {
        CRC32C sum = new CRC32C();
        for (long e = 0; e < epochs; e++) {
            for (Batch batch : loader.epoch(e)) {
                for (BatchArray array : batch.arrays()) {
                    sum.update(array.byteBuffer());
                }
            }
        }
        return sum.getValue();
    }

    /** Returns what a {@link PythonConsumer} says of whole epochs: Python has no CRC32C. */
    String pythonSum(long epochs) {
        CRC32 sum = new CRC32();
        long count = 0;
        for (long e = 0; e < epochs; e++) {
            for (Batch batch : loader.epoch(e)) {
                batch.arrays().forEach(array -> sum.update(array.byteBuffer()));
                count++;
            }
        }
        return String.format("%d %08x", count, sum.getValue());
    }

    static void add(SharedBatch batch, CRC32C sum) {
        batch.arrays().forEach(array -> sum.update(array.byteBuffer()));
    }

    /** Tells whether each picture of a batch is the one that its label says. */
    boolean isGenuine(SharedBatch batch) {
        ByteBuffer images = batch.array("images").byteBuffer();
        ByteBuffer labels = batch.array("labels").byteBuffer();
        int rowBytes = images.capacity() / batch.size();
        byte[] expected = new byte[rowBytes];
        byte[] found = new byte[rowBytes];
        for (int i = 0; i < batch.size(); i++) {
            int row = labels.getInt(i * Integer.BYTES);
            if (row < 0 || row >= loader.rows()) {
                return false;
            }
            dataset.array("images").row(row).getBytes(0, expected);
            images.get(i * rowBytes, found);
            if (!Arrays.equals(expected, found)) {
                return false;
            }
        }
        return true;
    }

    /** Reads whatever comes, and proves that it is what was published, in order; returns how many batches. */
    long readGenuine(SharedBatches batches) {
        long count = 0;
        for (SharedBatch batch : batches) {
            assertThat(isGenuine(batch)).isTrue();
            assertThat(batch.isIntact()).isTrue();
            count++;
        }
        return count;
    }

    @Override
    public void close() {
        loader.close();
        dataset.close();
        larder.close();
        store.close();
    }
}
