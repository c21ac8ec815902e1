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
 * batches were copied or gathered into a ring. Prints a row of JSON for each way and size of batches.
 */
final class FeedBenchmark {
    private static final int ROUNDS = 5;
    private static final long WARM_UP_NS = TimeUnit.MILLISECONDS.toNanos(700);

    private final Larder larder;
    private final Dataset dataset;
    private final String array;
    private final int samples;
    private final long windowNs;
    private long readSum;

    private FeedBenchmark(Larder larder, Dataset dataset, String array, int samples, double seconds) {
        this.larder = larder;
        this.dataset = dataset;
        this.array = array;
        this.samples = samples;
        this.windowNs = (long) (seconds * 1e9);
    }

    /** Arguments: the store, the dataset, the seconds for each measurement, and arrays, each with its samples in a batch: NAME:SAMPLES. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset(arguments[1])) {
            for (String argument : List.of(arguments).subList(3, arguments.length)) {
                String[] array = argument.split(":");
                double seconds = Double.parseDouble(arguments[2]);
                new FeedBenchmark(larder, dataset, array[0], Integer.parseInt(array[1]), seconds).run();
            }
        }
    }

    private LoaderBuilder loader() {
        return Loader.over(dataset)
                .arrays(array)
                .shuffle(42)
                .batch(samples)
                .threads(1)
                .prefetch(8);
    }

    private void run() throws IOException, InterruptedException {
        Process consumer = BatchConsumer.start(larder, "all", 2 * ROUNDS);
        List<Rate> alone = new ArrayList<>();
        List<Rate> copied = new ArrayList<>();
        List<Rate> inPlace = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            alone.add(alone());
            copied.add(published(2 * round, false, consumer));
            inPlace.add(published(2 * round + 1, true, consumer));
        }
        BenchProcess.requireEnd(consumer);
        if (readSum == 0) {
            throw new IOException("nothing was read");
        }
        print("alone", alone);
        print("copied", copied);
        print("in place", inPlace);
    }

    private record Row(
            String array,
            int samples,
            String what,
            String way,
            List<Double> batchesPerSecond,
            List<Double> processorUs) {}

    private void print(String way, List<Rate> rates) {
        List<Double> perSecond = rates.stream().map(Rate::perSecond).toList();
        List<Double> processorUs = rates.stream().map(Rate::processorUs).toList();
        Rows.print(new Row(array, samples, "feed", way, perSecond, processorUs));
    }

    private Rate alone() {
        try (Loader loader = loader().build()) {
            Meter meter = new Meter(windowNs, List.of());
            for (long epoch = 0; ; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    readSum += BatchConsumer.sum(batch.array(0).byteBuffer());
                    if (meter.isOver()) {
                        return meter.rate();
                    }
                }
            }
        }
    }

    private Rate published(int ring, boolean inPlace, Process consumer) {
        try (BatchPublisher publisher = BatchPublisher.of(larder, BatchConsumer.ring(ring))
                        .consumers(1)
                        .open();
                Loader loader = (inPlace ? loader().into(publisher.slots()) : loader()).build()) {
            Meter meter = new Meter(windowNs, List.of(consumer));
            long published = 0;
            for (long epoch = 0; ; epoch++) {
                publisher.publish(loader.epoch(epoch));
                long now = publisher.published();
                if (meter.isOver((int) (now - published))) {
                    return meter.rate();
                }
                published = now;
            }
        }
    }

    /** Batches a second, and the processor time of all processes for each. */
    private record Rate(double perSecond, double processorUs) {}

    /** Counts batches for some time, after a warm-up. */
    private static final class Meter {
        private final long windowNs;
        private final List<Process> others;
        private final long startNs = System.nanoTime();
        private long windowStartNs;
        private long processorStartNs;
        private long lastNs;
        private long count;

        Meter(long windowNs, List<Process> others) {
            this.windowNs = windowNs;
            this.others = others;
        }

        boolean isOver() {
            return isOver(1);
        }

        boolean isOver(int batches) {
            lastNs = System.nanoTime();
            if (windowStartNs == 0) {
                if (lastNs - startNs > WARM_UP_NS) {
                    windowStartNs = lastNs;
                    processorStartNs = ProcessorClock.ns(others);
                }
                return false;
            }
            count += batches;
            return lastNs - windowStartNs > windowNs;
        }

        Rate rate() {
            double processorUs = (ProcessorClock.ns(others) - processorStartNs) / 1e3 / count;
            return new Rate(count * 1e9 / (lastNs - windowStartNs), processorUs);
        }
    }
}
