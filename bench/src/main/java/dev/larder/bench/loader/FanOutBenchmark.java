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
 * Publishes one batch repeatedly to none, one, two, four and eight processes that read every byte of it or a word of it, next to a plain
 * copy of the same bytes into as many buffers of this process; and gathers shuffled batches with one thread that a thread of this process
 * reads or, copied or gathered into a ring, another process. Prints a row of JSON for each way and size of batches.
 */
final class FanOutBenchmark {
    private static final int SLOTS = 8;
    private static final int TRIALS = 5;
    private static final long WARM_UP_NS = TimeUnit.MILLISECONDS.toNanos(700);
    private static final List<Integer> CONSUMERS = List.of(0, 1, 2, 4, 8);

    private final Larder larder;
    private final Dataset dataset;
    private final String array;
    private final int samples;
    private final long windowNs;
    private int rings;
    private long readSum;

    private FanOutBenchmark(Larder larder, Dataset dataset, String array, int samples, double seconds) {
        this.larder = larder;
        this.dataset = dataset;
        this.array = array;
        this.samples = samples;
        this.windowNs = (long) (seconds * 1e9);
    }

    /** Arguments: {@code publish} or {@code feed}, the seconds for each measurement, and arrays: NAME, or NAME:SAMPLES of a batch. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(BenchStore.path());
                Dataset dataset = larder.dataset(BenchStore.DATASET)) {
            for (String argument : List.of(arguments).subList(2, arguments.length)) {
                String[] array = argument.split(":", -1);
                int samples = array.length == 1 ? BenchStore.BATCH : Integer.parseInt(array[1]);
                FanOutBenchmark bench =
                        new FanOutBenchmark(larder, dataset, array[0], samples, Double.parseDouble(arguments[1]));
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
                .batchSize(samples)
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
            double processorUs,
            double batchesPerSecond,
            double gigabytesPerSecond) {}

    private void print(long bytes, String what, int consumers, String reads, Cost cost) {
        Rows.print(new Published(
                array,
                bytes,
                what,
                consumers,
                reads,
                cost.ns / 1e3,
                cost.processorNs / 1e3,
                1e9 / cost.ns,
                bytes / cost.ns));
    }

    private void publish() throws IOException, InterruptedException {
        try (Loader loader = loader().build()) {
            Batch batch = loader.epoch(0).iterator().next();
            long bytes = batch.array(0).byteSize();
            copy(batch);
            print(bytes, "copy", 0, "none", copy(batch));
            for (int consumers : CONSUMERS) {
                for (String reads : consumers == 0 ? List.of("none") : List.of("little", "all")) {
                    print(bytes, "publish", consumers, reads, publish(batch, consumers, reads));
                }
            }
        }
    }

    private Cost copy(Batch batch) {
        int byteSize = (int) batch.array(0).byteSize();
        List<ByteBuffer> targets = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            targets.add(ByteBuffer.allocateDirect(byteSize));
        }
        return best(
                List.of(),
                batch,
                i -> batch.array(0).buffer().getBytes(0, targets.get((int) (i % SLOTS)), 0, byteSize));
    }

    private Cost publish(Batch batch, int consumers, String reads) throws IOException, InterruptedException {
        List<Process> processes = new ArrayList<>();
        Cost best;
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
            best = best(processes, batch, i -> publisher.publish(batch));
        }
        for (Process process : processes) {
            BenchProcess.requireEnd(process);
        }
        return best;
    }

    private interface Step {
        void run(long number);
    }

    /** The nanoseconds for each batch, and the processor time of all processes. */
    private record Cost(double ns, double processorNs) {}

    /** Returns the least times of some trials. */
    private Cost best(List<Process> others, Batch batch, Step step) {
        long batches = (long) (windowNs * 4.0 / (batch.array(0).byteSize() + 20_000)); // they take about this time
        Cost best = new Cost(Double.MAX_VALUE, Double.MAX_VALUE);
        for (int trial = 0; trial < TRIALS; trial++) {
            long processorNs = ProcessorClock.ns(others);
            long startNs = System.nanoTime();
            for (long i = 0; i < batches; i++) {
                step.run(i);
            }
            double ns = (System.nanoTime() - startNs) / (double) batches;
            processorNs = ProcessorClock.ns(others) - processorNs;
            best = new Cost(Math.min(best.ns, ns), Math.min(best.processorNs, processorNs / (double) batches));
        }
        return best;
    }

    // Epochs

    private record Fed(
            String array,
            int samples,
            String what,
            String way,
            List<Double> batchesPerSecond,
            List<Double> processorUs) {}

    /** Batches a second, and the processor time of all processes for each. */
    private record Rate(double perSecond, double processorUs) {}

    private void feed() throws IOException, InterruptedException {
        Process consumer = BatchConsumer.start(larder, "all", 2 * TRIALS);
        List<Rate> alone = new ArrayList<>();
        List<Rate> copied = new ArrayList<>();
        List<Rate> inPlace = new ArrayList<>();
        for (int round = 0; round < TRIALS; round++) {
            alone.add(alone());
            copied.add(published(false, consumer));
            inPlace.add(published(true, consumer));
        }
        BenchProcess.requireEnd(consumer);
        if (readSum == 0) {
            throw new IOException("nothing was read");
        }
        print("alone", alone);
        print("copied", copied);
        print("in place", inPlace);
    }

    private void print(String way, List<Rate> rates) {
        List<Double> perSecond = rates.stream().map(Rate::perSecond).toList();
        List<Double> processorUs = rates.stream().map(Rate::processorUs).toList();
        Rows.print(new Fed(array, samples, "feed", way, perSecond, processorUs));
    }

    private Rate alone() {
        try (Loader loader = loader().build()) {
            return rate(List.of(), epoch -> {
                int count = 0;
                for (Batch batch : loader.epoch(epoch)) {
                    readSum += BatchConsumer.sum(batch.array(0).byteBuffer());
                    count++;
                }
                return count;
            });
        }
    }

    private Rate published(boolean inPlace, Process consumer) {
        try (BatchPublisher publisher = BatchPublisher.of(larder, BatchConsumer.ring(rings++))
                        .consumers(1)
                        .open();
                Loader loader = (inPlace ? loader().into(publisher.slots()) : loader()).build()) {
            return rate(List.of(consumer), epoch -> {
                long before = publisher.published();
                publisher.publish(loader.epoch(epoch));
                return (int) (publisher.published() - before);
            });
        }
    }

    /** Reads epochs for some time, after a warm-up; each returns its number of batches. */
    private Rate rate(List<Process> others, LongToIntFunction reading) {
        long endOfWarmUpNs = System.nanoTime() + WARM_UP_NS;
        long epoch = 0;
        while (System.nanoTime() < endOfWarmUpNs) {
            int unused = reading.applyAsInt(epoch++);
        }
        long count = 0;
        long processorNs = ProcessorClock.ns(others);
        long startNs = System.nanoTime();
        long tookNs;
        do {
            count += reading.applyAsInt(epoch++);
            tookNs = System.nanoTime() - startNs;
        } while (tookNs < windowNs);
        double processorUs = (ProcessorClock.ns(others) - processorNs) / 1e3 / count;
        return new Rate(count * 1e9 / tookNs, processorUs);
    }
}
