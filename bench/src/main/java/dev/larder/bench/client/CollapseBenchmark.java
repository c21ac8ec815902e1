package dev.larder.bench.client;

import dev.larder.bench.Quantiles;
import dev.larder.bench.Rows;
import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.posix.PageSize;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Times batches of random rows of a dataset on small pages: before a daemon starts that moves it to huge pages, during the move, and
 * after it. Prints one JSON object.
 */
final class CollapseBenchmark {
    private static final int BATCH_ROWS = 256;
    private static final long SEED = 42;
    private static final long LOOK_MS = 5;
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(3);

    private final List<List<Long>> phases = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    private volatile int phase;
    private volatile boolean isOver;

    private CollapseBenchmark() {}

    /** Arguments: a store without a daemon, a dataset of one array, seconds of a calm phase, and the command that starts a daemon. */
    public static void main(String[] arguments) throws Exception {
        Path store = Path.of(arguments[0]);
        try (Larder larder = Larder.connect(store);
                Dataset dataset = larder.dataset(arguments[1])) {
            ArrayView array = dataset.array(dataset.arrayNames().get(0));
            List<String> start = List.of(arguments).subList(3, arguments.length);
            new CollapseBenchmark().run(store, array, Long.parseLong(arguments[2]), start);
        }
    }

    private void run(Path store, ArrayView array, long seconds, List<String> start) throws Exception {
        gather(array, System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds)); // compiles, and touches every page
        phases.forEach(List::clear);
        Thread reader = new Thread(() -> gather(array, Long.MAX_VALUE), "reader");
        reader.start();
        TimeUnit.SECONDS.sleep(seconds);
        ProcessBuilder daemonStart =
                new ProcessBuilder(start).redirectOutput(Redirect.DISCARD).redirectError(Redirect.INHERIT);
        phase = 1;
        long startNs = System.nanoTime();
        if (daemonStart.start().waitFor() != 0) {
            throw new IOException("cannot start a daemon: " + start);
        }
        long wanted = array.byteSize() / PageSize.HUGE_BYTES * PageSize.HUGE_BYTES;
        ControlClient daemon = ControlClient.at(store);
        while (daemon.status().hugeBytes() < wanted) {
            if (System.nanoTime() - startNs > LONGEST_NS) {
                throw new IllegalStateException("the kernel gives too few huge pages: bytes="
                        + daemon.status().hugeBytes() + " wanted=" + wanted);
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MS);
        }
        double tookSeconds = (System.nanoTime() - startNs) / 1e9;
        phase = 2;
        TimeUnit.SECONDS.sleep(seconds);
        isOver = true;
        reader.join();
        Rows.print(new Row(
                array.byteSize(),
                array.rowByteSize(),
                tookSeconds,
                Quantiles.of(phases.get(0)),
                Quantiles.of(phases.get(1)),
                Quantiles.of(phases.get(2))));
    }

    private record Row(
            long bytes, long rowBytes, double seconds, Quantiles before, Quantiles during, Quantiles after) {}

    private void gather(ArrayView array, long endNs) {
        Random random = new Random(SEED);
        long[] rows = new long[BATCH_ROWS];
        ByteBuffer target = ByteBuffer.allocateDirect(Math.toIntExact(BATCH_ROWS * array.rowByteSize()));
        while (!isOver && System.nanoTime() < endNs) {
            for (int i = 0; i < rows.length; i++) {
                rows[i] = random.nextInt((int) array.rows());
            }
            int now = phase;
            long startNs = System.nanoTime();
            array.copyRows(rows, target, 0);
            phases.get(now).add(System.nanoTime() - startNs);
        }
    }
}
