package dev.larder.loader;

import java.util.List;
import java.util.zip.CRC32C;

/**
 * Computes a checksum over batches, to prove that two runs saw the same ones: a CRC32C over the bytes of each batch, array by array.
 *
 * <p>Loaders over the same data with the same seed, batch size and epochs have the same sum on any machine, whatever their
 * threads and depth.
 */
public final class BatchChecksum {
    private final CRC32C crc = new CRC32C();

    /** Adds the next batch: from a device it is read back, and makes the same sum as on the host. */
    public void update(Batch batch) {
        List<BatchPart> parts = batch.parts();
        for (int i = 0; i < parts.get(0).arrays().size(); i++) {
            for (BatchPart part : parts) {
                crc.update(part.arrays().get(i).bytes());
            }
        }
    }

    /** Returns the sum of what was added so far. */
    public long value() {
        return crc.getValue();
    }
}
