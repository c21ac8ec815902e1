package dev.larder.bench.loader;

import dev.larder.bench.BenchProcess;
import dev.larder.bench.BenchStore;
import dev.larder.bench.Rows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.fanout.BatchPublisher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongToIntFunction;

/**
 * Publishes one batch repeatedly to none, one, two and four processes that read every byte of it or a word of it, next to a plain copy of
 * the same bytes into as many buffers of this process; and gathers shuffled batches with one thread that a thread of this process reads or,
 * copied or gathered into a ring, another process. Prints a row of JSON for each.
 */
final class FanOutBenchmark {
    private static final int SLOTS = 8;
    private static final int TRIALS = 5;
    private static final long WARM_UP_NS = TimeUnit.MILLISECONDS.toNanos(700);
    private static final List<Integer> CONSUMERS = List.of(0, 1, 2, 4);

    private final Larder larder;
    private final Dataset dataset;
    private final String array;
    private final long windowNs;
    private int rings;
    private long readSum;

    private FanOutBenchmark(Larder larder, Dataset dataset, String array, double seconds) {
        this.larder = larder;
        this.dataset = dataset;
        this.array = array;
        this.windowNs = (long) (seconds * 1e9);
    }

    /** Arguments: {@code publish} or {@code feed}, the seconds for each measurement, and the arrays. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(BenchStore.DATASET)) {
            for (String array : List.of(arguments).subList(2, arguments.length)) {
                FanOutBenchmark bench =
                        new FanOutBenchmark(larder, dataset, array, Double.parseDouble(arguments[1]));
                if (arguments[0].equals("feed")) {
                    bench.feed();
                } else {
                    bench.publish();
                }
            }
        }
    }

    private LoaderBuilder loader() {
        return Loader.over(dataset)
                .arrays(array)
                .shuffle(BenchStore.SEED)
                .batch(BenchStore.BATCH)
                .threads(1)
                .prefetch(SLOTS);
    }

    // One batch

    private record Published(
            String array,
            long bytes,
            String what,
            int consumers,
            String reads,
            double microseconds,
            double batchesPerSecond,
            double gigabytesPerSecond) {
        static Published of(String array, long bytes, String what, int consumers, String reads, double ns) {
            return new Published(array, bytes, what, consumers, reads, ns / 1000, 1e9 / ns, bytes / ns);
        }
    }

    private void publish() throws IOException, InterruptedException {
        try (Loader loader = loader().build()) {
            Batch batch = loader.epoch(0).iterator().next();
            long bytes = batch.array(0).byteSize();
            copy(batch);
            Rows.print(Published.of(array, bytes, "copy", 0, "none", copy(batch)));
            for (int consumers : CONSUMERS) {
                for (String reads : consumers == 0 ? List.of("none") : List.of("little", "all")) {
                    double ns = publish(batch, consumers, reads);
                    Rows.print(Published.of(array, bytes, "publish", consumers, reads, ns));
                }
            }
        }
    }

    private double copy(Batch batch) {
        int byteSize = (int) batch.array(0).byteSize();
        List<ByteBuffer> targets = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            targets.add(ByteBuffer.allocateDirect(byteSize));
        }
        return best(batch, i -> batch.array(0).buffer().getBytes(0, targets.get((int) (i % SLOTS)), 0, byteSize));
    }

    private double publish(Batch batch, int consumers, String reads) throws IOException, InterruptedException {
        List<Process> processes = new ArrayList<>();
        double best;
        try (BatchPublisher publisher = BatchPublisher.of(larder, BatchConsumer.ring(0))
                .slots(SLOTS)
                .consumers(consumers)
                .open()) {
            for (int i = 0; i < consumers; i++) {
                processes.add(BatchConsumer.start(larder, reads, 1));
            }
            for (int i = 0; i < SLOTS; i++) {
                publisher.publish(batch);
            }
            best = best(batch, i -> publisher.publish(batch));
        }
        for (Process process : processes) {
            BenchProcess.requireEnd(process);
        }
        return best;
    }

    private interface Step {
        void run(long number);
    }

    /** Returns the best time of some trials, in nanoseconds for each batch. */
    private double best(Batch batch, Step step) {
        long batches = (long) (windowNs * 4.0 / (batch.array(0).byteSize() + 20_000)); // they take about this time
        double best = Double.MAX_VALUE;
        for (int trial = 0; trial < TRIALS; trial++) {
            long startNs = System.nanoTime();
            for (long i = 0; i < batches; i++) {
                step.run(i);
            }
            best = Math.min(best, (System.nanoTime() - startNs) / (double) batches);
        }
        return best;
    }

    // Epochs

    private record Fed(String array, String what, String way, List<Double> batchesPerSecond) {}

    private void feed() throws IOException, InterruptedException {
        Process consumer = BatchConsumer.start(larder, "all", 2 * TRIALS);
        List<Double> alone = new ArrayList<>();
        List<Double> copied = new ArrayList<>();
        List<Double> inPlace = new ArrayList<>();
        for (int round = 0; round < TRIALS; round++) {
            alone.add(alone());
            copied.add(published(false));
            inPlace.add(published(true));
        }
        BenchProcess.requireEnd(consumer);
        if (readSum == 0) {
            throw new IOException("nothing was read");
        }
        Rows.print(new Fed(array, "feed", "alone", alone));
        Rows.print(new Fed(array, "feed", "copied", copied));
        Rows.print(new Fed(array, "feed", "in place", inPlace));
    }

    private double alone() {
        try (Loader loader = loader().build()) {
            return perSecond(epoch -> {
                int count = 0;
                for (Batch batch : loader.epoch(epoch)) {
                    readSum += BatchConsumer.sum(batch.array(0).byteBuffer());
                    count++;
                }
                return count;
            });
        }
    }

    private double published(boolean inPlace) {
        try (BatchPublisher publisher = BatchPublisher.of(larder, BatchConsumer.ring(rings++))
                        .consumers(1)
                        .open();
                Loader loader = (inPlace ? loader().into(publisher.slots()) : loader()).build()) {
            return perSecond(epoch -> {
                long before = publisher.published();
                publisher.publish(loader.epoch(epoch));
                return (int) (publisher.published() - before);
            });
        }
    }

    /** Reads epochs for some time, after a warm-up; each returns its number of batches. */
    private double perSecond(LongToIntFunction reading) {
        long endOfWarmUpNs = System.nanoTime() + WARM_UP_NS;
        long epoch = 0;
        while (System.nanoTime() < endOfWarmUpNs) {
            reading.applyAsInt(epoch++);
        }
        long count = 0;
        long startNs = System.nanoTime();
        long tookNs;
        do {
            count += reading.applyAsInt(epoch++);
            tookNs = System.nanoTime() - startNs;
        } while (tookNs < windowNs);
        return count * 1e9 / tookNs;
    }
}
