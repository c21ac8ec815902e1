package dev.larder.bench.gpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How much is measured.
 *
 * @param arrayBytes how long an array of rows is: longer than what caches hold
 * @param batchBytes how many stored bytes a large batch has
 * @param residentBatchBytes the same where nothing but row numbers travels
 * @param passBatches how many batches one pass over a loader has
 * @param mostUploadBytes the longest single upload
 * @param each how long one figure is measured
 * @param rounds how many times, of which the median counts
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

    /** For a first look. */
    static Scale quick() {
        return new Scale(32 * MIB, 4 * MIB, 8 * MIB, 8, 64 * MIB, Duration.ofMillis(150), 3);
    }

    /** For figures to keep; within what the store's file system has room for. A processor gets less to do than a GPU. */
    static Scale full(Path storeParent, boolean gpu) throws IOException {
        long room = Files.getFileStore(storeParent).getUsableSpace() / 8;
        return gpu
                ? new Scale(Math.min(1024 * MIB, room), 16 * MIB, 64 * MIB, 64, 256 * MIB, Duration.ofMillis(600), 5)
                : new Scale(Math.min(256 * MIB, room), 16 * MIB, 16 * MIB, 8, 256 * MIB, Duration.ofMillis(500), 5);
    }
}
