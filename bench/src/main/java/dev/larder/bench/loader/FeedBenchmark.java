package dev.larder.bench.loader;

import dev.larder.bench.BenchProcess;
import dev.larder.bench.Rows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.fanout.BatchPublisher;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Gathers shuffled batches of one array with one thread. In turns, a thread of this process reads every byte, or another process after the
 * batches were copied or gathered into a ring. Prints a row of JSON for each way.
 */
final class FeedBenchmark {
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

    /** Arguments: the store, the dataset, the seconds for each measurement and the array. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset(arguments[1])) {
            new FeedBenchmark(larder, dataset, arguments[3], Double.parseDouble(arguments[2])).run();
        }
    }

    private LoaderBuilder loader() {
        return Loader.over(dataset)
                .arrays(array)
                .shuffle(42)
                .batch(256)
                .threads(1)
                .prefetch(8);
    }

    private void run() throws IOException, InterruptedException {
        Process consumer = BatchConsumer.start(larder, "all", 2 * ROUNDS);
        List<Double> alone = new ArrayList<>();
        List<Double> copied = new ArrayList<>();
        List<Double> inPlace = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            alone.add(alone());
            copied.add(published(2 * round, false));
            inPlace.add(published(2 * round + 1, true));
        }
        BenchProcess.requireEnd(consumer);
        if (readSum == 0) {
            throw new IOException("nothing was read");
        }
        Rows.print(new Row(array, "feed", "alone", alone));
        Rows.print(new Row(array, "feed", "copied", copied));
        Rows.print(new Row(array, "feed", "in place", inPlace));
    }

    private record Row(String array, String what, String way, List<Double> batchesPerSecond) {}

    private double alone() {
        try (Loader loader = loader().build()) {
            Meter meter = new Meter(windowNs);
            for (long epoch = 0; ; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    readSum += BatchConsumer.sum(batch.array(0).byteBuffer());
                    if (meter.isOver()) {
                        return meter.perSecond();
                    }
                }
            }
        }
    }

    private double published(int ring, boolean inPlace) {
        try (BatchPublisher publisher = BatchPublisher.of(larder, BatchConsumer.ring(ring))
                        .consumers(1)
                        .open();
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

    /** Counts batches for some time, after a warm-up. */
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
