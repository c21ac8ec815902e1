package dev.larder.bench.gpu;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.loader.internal.device.HostMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;

/** Measures the gathering of random rows into locked host memory, for several row sizes and numbers of threads. */
final class GatherPart {
    private static final String PART = "gather";
    private static final int PIECE_BYTES = 256 << 10;
    private static final int[] ROW_BYTES = {64, 256, 1_024, 3_072, 76_800, 150_528};

    private GatherPart() {}

    static void run(Bench bench) throws Exception {
        for (int rowBytes : ROW_BYTES) {
            try (Dataset dataset = bench.store().publishRows(PART, bench.scale().arrayBytes(), rowBytes);
                    HostMemory slot =
                            bench.device().allocate(Math.max(bench.scale().batchBytes(), 2L * rowBytes))) {
                gather(bench, dataset.array(SyntheticStore.ARRAY), slot, rowBytes);
            }
            bench.store().remove(PART);
        }
    }

    private static void gather(Bench bench, ArrayView rows, HostMemory slot, int rowBytes) throws Exception {
        for (int threads = 1; threads <= Bench.threads(); threads = next(threads)) {
            double rate = rate(bench, rows, slot, threads);
            Measurement measurement =
                    Measurement.of(PART, "rows of " + rowBytes + " B, threads " + threads, rate, "GB/s");
            if (threads == Bench.threads()) {
                bench.limits().gather.put(rowBytes, rate);
                measurement = measurement.beside(bench.limits().upload, "locked upload");
                measurement = rowBytes >= 3_072 ? measurement.atLeast(1, bench.isNvidia()) : measurement;
            }
            bench.report().add(measurement);
        }
    }

    private static int next(int threads) {
        return threads == Bench.threads() ? threads + 1 : Math.min(threads * 2, Bench.threads());
    }

    private static double rate(Bench bench, ArrayView rows, HostMemory slot, int threads) throws Exception {
        int rowBytes = (int) rows.rowByteSize();
        int count = slot.bytes().capacity() / rowBytes;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            long[][] drawn = drawn(rows.rows(), count);
            int[] turn = {0};
            return Timing.gigabytesPerSecond(bench.scale(), (long) count * rowBytes, () -> {
                long[] batch = drawn[turn[0]++ % drawn.length];
                AtomicInteger next = new AtomicInteger();
                List<Future<?>> shares = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    shares.add(pool.submit(() -> copy(rows, batch, next, slot)));
                }
                for (Future<?> share : shares) {
                    share.get();
                }
            });
        } finally {
            pool.shutdown();
        }
    }

    /** Copies pieces of a batch until none is left. Threads that share a core take fewer. */
    private static void copy(ArrayView rows, long[] batch, AtomicInteger next, HostMemory slot) {
        int rowBytes = (int) rows.rowByteSize();
        int piece = Math.max(1, PIECE_BYTES / rowBytes);
        UnsafeBuffer target = new UnsafeBuffer(slot.bytes());
        for (int first = next.getAndAdd(piece); first < batch.length; first = next.getAndAdd(piece)) {
            rows.copyRows(batch, first, Math.min(piece, batch.length - first), target, first * rowBytes);
        }
    }

    /** Draws several batches, so that consecutive batches have different rows. */
    private static long[][] drawn(long rows, int count) {
        SplittableRandom random = new SplittableRandom(count);
        long[][] batches = new long[8][];
        for (int i = 0; i < batches.length; i++) {
            batches[i] = random.longs(count, 0, rows).toArray();
        }
        return batches;
    }
}
