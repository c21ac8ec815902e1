package dev.larder.bench.loader;

import dev.larder.bench.BenchProcess;
import dev.larder.client.Larder;
import dev.larder.loader.fanout.SharedBatch;
import dev.larder.loader.fanout.SharedBatchArray;
import dev.larder.loader.fanout.SharedBatches;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A process that reads published batches: every byte, or a word of each. */
final class BatchConsumer {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private BatchConsumer() {}

    /** Starts one that reads the first {@code rings} rings, one after the other. */
    static Process start(Larder larder, String reads, int rings) throws IOException {
        String store = larder.store().toString();
        return BenchProcess.start(List.of(), BatchConsumer.class, store, reads, Integer.toString(rings));
    }

    /** Arguments: the store, {@code all} or {@code little}, and the number of rings. */
    public static void main(String[] arguments) {
        long sum = 0;
        try (Larder larder = Larder.connect(Path.of(arguments[0]))) {
            for (int number = 0; number < Integer.parseInt(arguments[2]); number++) {
                try (SharedBatches batches =
                        SharedBatches.of(larder, ring(number)).timeout(PATIENCE).attach()) {
                    for (SharedBatch batch : batches) {
                        for (SharedBatchArray array : batch.arrays()) {
                            ByteBuffer bytes = array.byteBuffer();
                            sum += arguments[1].equals("all") ? sum(bytes) : bytes.getLong(0);
                        }
                    }
                }
            }
        }
        if (sum == 0) {
            throw new IllegalStateException("nothing was read");
        }
    }

    static String ring(int number) {
        return "bench-" + number;
    }

    /** Adds up the 8-byte words. */
    static long sum(ByteBuffer bytes) {
        LongBuffer longs = bytes.asLongBuffer();
        long sum = 0;
        int limit = longs.limit();
        for (int i = 0; i < limit; i++) {
            sum += longs.get(i);
        }
        return sum;
    }
}
