package dev.larder.bench.loader;

import dev.larder.bench.Rows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;

/** Reads shuffled rows of an array that may not be in memory, and prints how long it took as a row of JSON. */
final class BeyondMemory {
    private static final int BATCH = 64;

    /** One row in this many is read before the clock starts, while the JVM compiles. */
    private static final int WARM_UP_SHARE = 8;

    private final Loader loader;
    private long epochs;
    private Iterator<Batch> batches;

    private BeyondMemory(Loader loader) {
        this.loader = loader;
        this.batches = nextEpoch();
    }

    private record Row(long rows, double seconds, double processorMs, long diskBytes, long sum) {}

    /** Arguments: the store, the dataset, the array, and the least number of rows to read. */
    public static void main(String[] arguments) throws IOException {
        long wanted = Long.parseLong(arguments[3]);
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset(arguments[1]);
                Loader loader = Loader.over(dataset)
                        .arrays(arguments[2])
                        .shuffle(1)
                        .batchSize(BATCH)
                        .build()) {
            BeyondMemory reading = new BeyondMemory(loader);
            long before = reading.read(wanted / WARM_UP_SHARE).rows();
            Rows.print(reading.read(wanted - before));
        }
    }

    private Iterator<Batch> nextEpoch() {
        Epoch epoch = loader.epoch(epochs++);
        return epoch.iterator();
    }

    private Row read(long wanted) throws IOException {
        long diskBytes = diskBytes();
        long processorNs = ProcessorClock.ns();
        long startNs = System.nanoTime();
        long rows = 0;
        long sum = 0;
        while (rows < wanted) {
            if (!batches.hasNext()) {
                batches = nextEpoch();
            }
            Batch batch = batches.next();
            rows += batch.size();
            sum += batch.array(0).buffer().getByte(0);
        }
        double seconds = (System.nanoTime() - startNs) / 1e9;
        return new Row(rows, seconds, (ProcessorClock.ns() - processorNs) / 1e6, diskBytes() - diskBytes, sum);
    }

    /** Returns the bytes that the kernel fetched from disks for this process. */
    private static long diskBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/io")).stream()
                .filter(line -> line.startsWith("read_bytes: "))
                .mapToLong(line -> Long.parseLong(line.substring("read_bytes: ".length())))
                .sum();
    }
}
