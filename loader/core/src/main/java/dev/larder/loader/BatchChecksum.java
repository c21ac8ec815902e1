package dev.larder.loader;

import java.util.zip.CRC32C;

/**
 * Sums up batches, to prove that two runs saw the same: a CRC32C over the bytes of each batch, array by array.
 *
 * <p>Loaders over the same data with the same seed, batch size and epochs have the same sum on any machine, whatever their
 * threads and depth.
 */
public final class BatchChecksum {
    private final CRC32C crc = new CRC32C();

    /** Adds the next batch. */
    public void update(Batch batch) {
        for (BatchArray array : batch.arrays()) {
            crc.update(array.byteBuffer());
        }
    }

    /** Returns the sum of what was added so far. */
    public long value() {
        return crc.getValue();
    }
}
