package dev.larder.bench.loader;

import dev.larder.bench.BenchProcess;
import dev.larder.bench.Rows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.fanout.BatchPublisher;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Publishes one batch repeatedly to none, one, two, four and eight processes that read every byte of it or a word of it, next to a plain
 * copy of the same bytes into as many buffers of this process. Prints a row of JSON for each.
 */
final class FanOutBenchmark {
    private static final int SLOTS = 8;
    private static final int TRIALS = 5;
    private static final List<Integer> CONSUMERS = List.of(0, 1, 2, 4, 8);

    private final Larder larder;
    private final Batch batch;
    private final String array;
    private final long byteSize;
    private final long batches;

    private FanOutBenchmark(Larder larder, Batch batch, String array, double seconds) {
        this.larder = larder;
        this.batch = batch;
        this.array = array;
        this.byteSize = batch.array(0).byteSize();
        this.batches = (long) (seconds * 4e9 / (byteSize + 20_000)); // they take about this time
    }

    /** Arguments: the store, the dataset, the seconds for each measurement and the arrays. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset(arguments[1])) {
            for (String array : List.of(arguments).subList(3, arguments.length)) {
                try (Loader loader = Loader.over(dataset)
                        .arrays(array)
                        .shuffle(42)
                        .batch(256)
                        .build()) {
                    Batch batch = loader.epoch(0).iterator().next();
                    new FanOutBenchmark(larder, batch, array, Double.parseDouble(arguments[2])).run();
                }
            }
        }
    }

    private void run() throws IOException, InterruptedException {
        copy();
        print("copy", 0, "none", copy());
        for (int consumers : CONSUMERS) {
            for (String reads : consumers == 0 ? List.of("none") : List.of("little", "all")) {
                print("publish", consumers, reads, publish(consumers, reads));
            }
        }
    }

    private Cost copy() {
        List<ByteBuffer> targets = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            targets.add(ByteBuffer.allocateDirect((int) byteSize));
        }
        return best(
                List.of(), i -> batch.array(0).buffer().getBytes(0, targets.get((int) (i % SLOTS)), 0, (int) byteSize));
    }

    private Cost publish(int consumers, String reads) throws IOException, InterruptedException {
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
            best = best(processes, i -> publisher.publish(batch));
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
    private Cost best(List<Process> others, Step step) {
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

    private record Row(
            String array,
            long bytes,
            String what,
            int consumers,
            String reads,
            double microseconds,
            double processorUs,
            double batchesPerSecond,
            double gigabytesPerSecond) {}

    private void print(String what, int consumers, String reads, Cost cost) {
        Rows.print(new Row(
                array,
                byteSize,
                what,
                consumers,
                reads,
                cost.ns / 1000,
                cost.processorNs / 1000,
                1e9 / cost.ns,
                byteSize / cost.ns));
    }
}
