package dev.larder.bench.loader;

import dev.larder.bench.Rows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads shuffled rows of an array that may not be in memory, and prints how long it took as a row of JSON. */
final class BeyondMemory {
    private static final int BATCH = 64;

    private BeyondMemory() {}

    private record Row(long rows, double seconds, double processorMs, long diskBytes, long sum) {}

    /** Arguments: the store, the dataset, the array, and the least number of rows to read. */
    public static void main(String[] arguments) throws IOException {
        long wanted = Long.parseLong(arguments[3]);
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset(arguments[1]);
                Loader loader = Loader.over(dataset)
                        .arrays(arguments[2])
                        .shuffle(1)
                        .batch(BATCH)
                        .build()) {
            long diskBytes = diskBytes();
            long processorNs = ProcessorClock.ns();
            long startNs = System.nanoTime();
            long rows = 0;
            long sum = 0;
            for (long epoch = 0; rows < wanted; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    rows += batch.size();
                    sum += batch.array(0).buffer().getByte(0);
                    if (rows >= wanted) {
                        break;
                    }
                }
            }
            double seconds = (System.nanoTime() - startNs) / 1e9;
            Rows.print(new Row(rows, seconds, (ProcessorClock.ns() - processorNs) / 1e6, diskBytes() - diskBytes, sum));
        }
    }

    /** Returns the bytes that the kernel fetched from disks for this process. */
    private static long diskBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/io")).stream()
                .filter(line -> line.startsWith("read_bytes: "))
                .mapToLong(line -> Long.parseLong(line.substring("read_bytes: ".length())))
                .sum();
    }
}
