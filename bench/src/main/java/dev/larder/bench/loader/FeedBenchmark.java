package dev.larder.bench.loader;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.fanout.BatchPublisher;
import dev.larder.loader.fanout.SharedBatch;
import dev.larder.loader.fanout.SharedBatches;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Gathers shuffled batches of one array with one thread and has every byte read: by a thread of this process, and by another process
 * that the batches are published to, copied or gathered into the ring. In turns. Prints a row of JSON for each way.
 */
final class FeedBenchmark {
    private static final int BATCH = 256;
    private static final int ROUNDS = 5;
    private static final long WARM_UP_NS = TimeUnit.MILLISECONDS.toNanos(700);

    private final Larder larder;
    private final Dataset dataset;
    private final String array;
    private final long windowNs;
    private long readSum;

    private FeedBenchmark(Larder larder, Dataset dataset, String array, double seconds) {
        this.larder = larder;
        this.dataset = dataset;
        this.array = array;
        this.windowNs = (long) (seconds * 1e9);
    }

    /** Takes the store, the dataset, the seconds for each measurement and the array; or {@code consume}, the store and how many rings. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        boolean consumes = arguments[0].equals("consume");
        try (Larder larder = Larder.connect(Path.of(arguments[consumes ? 1 : 0]))) {
            if (consumes) {
                consume(larder, Integer.parseInt(arguments[2]));
                return;
            }
            try (Dataset dataset = larder.dataset(arguments[1])) {
                new FeedBenchmark(larder, dataset, arguments[3], Double.parseDouble(arguments[2])).run();
            }
        }
    }

    private LoaderBuilder loader() {
        return Loader.over(dataset)
                .arrays(array)
                .shuffle(42)
                .batch(BATCH)
                .threads(1)
                .prefetch(8);
    }

    private void run() throws IOException, InterruptedException {
        Process consumer = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FeedBenchmark.class.getName(),
                        "consume",
                        larder.store().toString(),
                        Integer.toString(2 * ROUNDS))
                .inheritIO()
                .start();
        List<Double> alone = new ArrayList<>();
        List<Double> copied = new ArrayList<>();
        List<Double> inPlace = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            alone.add(alone());
            copied.add(published(2 * round, false));
            inPlace.add(published(2 * round + 1, true));
        }
        if (consumer.waitFor() != 0 || readSum == 0) {
            throw new IOException("nothing was read: exitCode=" + consumer.exitValue());
        }
        print("alone", alone);
        print("copied", copied);
        print("in place", inPlace);
    }

    private void print(String way, List<Double> rates) {
        String each = rates.stream()
                .map(rate -> String.format(Locale.ROOT, "%.0f", rate))
                .collect(Collectors.joining(", "));
        System.out.printf(
                "{\"array\": \"%s\", \"what\": \"feed\", \"way\": \"%s\", \"batchesPerSecond\": [%s]}%n",
                array, way, each);
    }

    private double alone() {
        try (Loader loader = loader().build()) {
            Meter meter = new Meter(windowNs);
            for (long epoch = 0; ; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    readSum += sum(batch.array(0).byteBuffer());
                    if (meter.isOver()) {
                        return meter.perSecond();
                    }
                }
            }
        }
    }

    private double published(int ring, boolean inPlace) {
        try (BatchPublisher publisher =
                        BatchPublisher.of(larder, name(ring)).consumers(1).open();
                Loader loader = (inPlace ? loader().into(publisher.slots()) : loader()).build()) {
            Meter meter = new Meter(windowNs);
            long published = 0;
            for (long epoch = 0; ; epoch++) {
                publisher.publish(loader.epoch(epoch));
                long now = publisher.published();
                if (meter.isOver((int) (now - published))) {
                    return meter.perSecond();
                }
                published = now;
            }
        }
    }

    private static void consume(Larder larder, int rings) {
        long sum = 0;
        for (int ring = 0; ring < rings; ring++) {
            try (SharedBatches batches = SharedBatches.of(larder, name(ring))
                    .timeout(Duration.ofMinutes(1))
                    .attach()) {
                for (SharedBatch batch : batches) {
                    sum += sum(batch.arrays().get(0).byteBuffer());
                }
            }
        }
        if (sum == 0) {
            throw new IllegalStateException("nothing was read");
        }
    }

    private static String name(int ring) {
        return "bench-" + ring;
    }

    private static long sum(ByteBuffer bytes) {
        LongBuffer longs = bytes.asLongBuffer();
        long sum = 0;
        int limit = longs.limit();
        for (int i = 0; i < limit; i++) {
            sum += longs.get(i);
        }
        return sum;
    }

    /** Counts batches over some time, after others that it does not count. */
    private static final class Meter {
        private final long windowNs;
        private final long startNs = System.nanoTime();
        private long windowStartNs;
        private long lastNs;
        private long count;

        Meter(long windowNs) {
            this.windowNs = windowNs;
        }

        boolean isOver() {
            return isOver(1);
        }

        boolean isOver(int batches) {
            lastNs = System.nanoTime();
            if (windowStartNs == 0) {
                windowStartNs = lastNs - startNs > WARM_UP_NS ? lastNs : 0;
                return false;
            }
            count += batches;
            return lastNs - windowStartNs > windowNs;
        }

        double perSecond() {
            return count * 1e9 / (lastNs - windowStartNs);
        }
    }
}
