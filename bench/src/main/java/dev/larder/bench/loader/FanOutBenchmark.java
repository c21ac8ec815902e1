package dev.larder.bench.loader;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.fanout.BatchPublisher;
import dev.larder.loader.fanout.SharedBatch;
import dev.larder.loader.fanout.SharedBatchArray;
import dev.larder.loader.fanout.SharedBatches;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Publishes one batch again and again, to none, one, two and four processes that read every byte of it or hardly any, beside a
 * plain copy of the same bytes into as many buffers of this process. Prints a row of JSON for each.
 */
final class FanOutBenchmark {
    private static final String RING = "bench";
    private static final int SLOTS = 8;
    private static final int BATCH = 256;
    private static final int TRIALS = 5;
    private static final List<Integer> CONSUMERS = List.of(0, 1, 2, 4);

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
        this.batches = (long) (seconds * 4e9 / (byteSize + 20_000)); // as many as take about that long
    }

    /** Takes the store, the dataset, the seconds for each measurement and the arrays; or {@code consume}, the store and a word. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(Path.of(arguments[arguments[0].equals("consume") ? 1 : 0]))) {
            if (arguments[0].equals("consume")) {
                consume(larder, arguments[2].equals("all"));
                return;
            }
            for (String array : List.of(arguments).subList(3, arguments.length)) {
                try (Dataset dataset = larder.dataset(arguments[1]);
                        Loader loader = Loader.over(dataset)
                                .arrays(array)
                                .shuffle(42)
                                .batch(BATCH)
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

    /** Returns the best time of some trials, in nanoseconds for each batch. */
    private double copy() {
        List<ByteBuffer> targets = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            targets.add(ByteBuffer.allocateDirect((int) byteSize));
        }
        double best = Double.MAX_VALUE;
        for (int trial = 0; trial < TRIALS; trial++) {
            long startNs = System.nanoTime();
            for (long i = 0; i < batches; i++) {
                batch.array(0).buffer().getBytes(0, targets.get((int) (i % SLOTS)), 0, (int) byteSize);
            }
            best = Math.min(best, (System.nanoTime() - startNs) / (double) batches);
        }
        return best;
    }

    private double publish(int consumers, String reads) throws IOException, InterruptedException {
        List<Process> processes = new ArrayList<>();
        double best = Double.MAX_VALUE;
        try (BatchPublisher publisher = BatchPublisher.of(larder, RING)
                .slots(SLOTS)
                .consumers(consumers)
                .open()) {
            for (int i = 0; i < consumers; i++) {
                processes.add(start(reads));
            }
            for (int i = 0; i < SLOTS; i++) {
                publisher.publish(batch);
            }
            for (int trial = 0; trial < TRIALS; trial++) {
                long startNs = System.nanoTime();
                for (long i = 0; i < batches; i++) {
                    publisher.publish(batch);
                }
                best = Math.min(best, (System.nanoTime() - startNs) / (double) batches);
            }
        }
        for (Process process : processes) {
            if (process.waitFor() != 0) {
                throw new IOException("a consumer failed: exitCode=" + process.exitValue());
            }
        }
        return best;
    }

    private Process start(String reads) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FanOutBenchmark.class.getName(),
                        "consume",
                        larder.store().toString(),
                        reads)
                .inheritIO()
                .start();
    }

    private static void consume(Larder larder, boolean readsAll) {
        long sum = 0;
        try (SharedBatches batches = SharedBatches.attach(larder, RING)) {
            for (SharedBatch batch : batches) {
                for (SharedBatchArray array : batch.arrays()) {
                    LongBuffer longs = array.byteBuffer().asLongBuffer();
                    sum += readsAll ? sum(longs) : longs.get(0);
                }
            }
        }
        if (sum == 0) {
            throw new IllegalStateException("nothing was read");
        }
    }

    private static long sum(LongBuffer longs) {
        long sum = 0;
        int limit = longs.limit();
        for (int i = 0; i < limit; i++) {
            sum += longs.get(i);
        }
        return sum;
    }

    private void print(String what, int consumers, String reads, double nsPerBatch) {
        System.out.printf(
                Locale.ROOT,
                "{\"array\": \"%s\", \"bytes\": %d, \"what\": \"%s\", \"consumers\": %d, \"reads\": \"%s\", \"microseconds\":"
                        + " %.2f, \"batchesPerSecond\": %.0f, \"gigabytesPerSecond\": %.2f}%n",
                array,
                byteSize,
                what,
                consumers,
                reads,
                nsPerBatch / 1000,
                1e9 / nsPerBatch,
                byteSize / nsPerBatch);
    }
}
