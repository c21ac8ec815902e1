package dev.larder.loader.fanout;

import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;

/** A consumer: reads a ring to its end, and tells the checksum of what it saw. */
final class ConsumingProgram {
    private ConsumingProgram() {}

    /** Arguments: store, pause after each batch in microseconds. */
    @SuppressWarnings("SystemOut") // what its parent reads
    public static void main(String[] arguments) {
        long pauseNs = Long.parseLong(arguments[1]) * 1000;
        CRC32C sum = new CRC32C();
        long count = 0;
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                SharedBatches batches = SharedBatches.of(larder, Gallery.RING)
                        .timeout(Duration.ofSeconds(60))
                        .attach()) {
            System.out.println("attached");
            for (SharedBatch batch : batches) {
                Gallery.add(batch, sum);
                count++;
                if (count == 1) {
                    System.out.println("reading");
                }
                if (pauseNs > 0) {
                    LockSupport.parkNanos(pauseNs); // a consumer that is slow
                }
            }
            System.out.printf("%d %08x%n", count, sum.getValue());
        } catch (LarderException e) {
            System.out.println("after " + count + ": " + e.getMessage());
        }
    }
}
