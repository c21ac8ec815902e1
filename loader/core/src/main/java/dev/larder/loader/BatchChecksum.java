package dev.larder.loader;

import java.util.List;
import java.util.zip.CRC32C;

/**
 * A checksum over batches, to prove that two runs had the same ones: a CRC32C over the bytes of each batch, array by array.
 *
 * <p>Loaders over the same data with the same seed, batch size and epochs have the same checksum on any machine, with any number of
 * threads and slots.
 */
public final class BatchChecksum {
    private final CRC32C crc = new CRC32C();

    /** Adds the next batch. A batch on a device is read back, and has the same checksum as on the host. */
    public void update(Batch batch) {
        List<BatchPart> parts = batch.parts();
        for (int i = 0; i < parts.get(0).arrays().size(); i++) {
            for (BatchPart part : parts) {
                crc.update(part.arrays().get(i).bytes());
            }
        }
    }

    /** Returns the checksum of all batches so far. */
    public long value() {
        return crc.getValue();
    }
}
