package dev.larder.bench.gpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The sizes and times of the measurements.
 *
 * @param arrayBytes the size of an array of rows, larger than the caches of processors
 * @param batchBytes the stored bytes of a large batch
 * @param residentBatchBytes the stored bytes of a large batch if the rows are on the device
 * @param passBatches the number of batches of one pass over a loader
 * @param mostUploadBytes the longest single upload
 * @param each the time to measure one figure
 * @param rounds the number of rounds of a figure, which is their median
 */
record Scale(
        long arrayBytes,
        long batchBytes,
        long residentBatchBytes,
        int passBatches,
        long mostUploadBytes,
        Duration each,
        int rounds) {
    private static final long MIB = 1 << 20;

    /** Returns the scale for a first impression. */
    static Scale quick() {
        return new Scale(32 * MIB, 4 * MIB, 8 * MIB, 8, 64 * MIB, Duration.ofMillis(150), 3);
    }

    /** Returns the scale for published figures, within the free space for the store. It is smaller for a processor than for a GPU. */
    static Scale full(Path storeParent, boolean gpu) throws IOException {
        long room = Files.getFileStore(storeParent).getUsableSpace() / 8;
        return gpu
                ? new Scale(Math.min(1024 * MIB, room), 16 * MIB, 64 * MIB, 64, 256 * MIB, Duration.ofMillis(600), 5)
                : new Scale(Math.min(256 * MIB, room), 16 * MIB, 16 * MIB, 8, 256 * MIB, Duration.ofMillis(500), 5);
    }
}
