package dev.larder.command;

import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.loader.fanout.SharedBatch;
import dev.larder.loader.fanout.SharedBatches;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

/** A trainer: reads a feed to its end, and says what it saw. */
final class FeedTrainer {
    private FeedTrainer() {}

    /** Arguments: store, feed, pause after each batch in milliseconds. */
    @SuppressWarnings("SystemOut") // what its parent reads
    public static void main(String[] arguments) {
        long pauseNs = Duration.ofMillis(Long.parseLong(arguments[2])).toNanos();
        CRC32C sum = new CRC32C();
        long count = 0;
        System.out.println("waiting");
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                SharedBatches batches = SharedBatches.of(larder, arguments[1])
                        .timeout(Duration.ofSeconds(60))
                        .attach()) {
            for (SharedBatch batch : batches) {
                batch.arrays().forEach(array -> sum.update(array.byteBuffer()));
                if (++count == 1) {
                    System.out.println("reading");
                }
                if (pauseNs > 0) {
                    LockSupport.parkNanos(pauseNs);
                }
            }
            System.out.println("saw " + count + " " + sum.getValue());
        } catch (LarderException e) {
            System.out.println("failed after " + count + ": " + e.getMessage());
        }
    }
}
