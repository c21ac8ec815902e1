package dev.larder.bench.gpu;

import dev.larder.loader.device.Fence;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/** Measures durations in several rounds. */
final class Timing {
    private static final long BETWEEN_QUERIES_NS = 2_000;

    private Timing() {}

    /** The work to measure. */
    @FunctionalInterface
    interface Work {
        void run() throws Exception;
    }

    /** Returns the median time of one run in nanoseconds, after a warm-up round. */
    static double nanosPerRun(Scale scale, Work work) throws Exception {
        long roundNs = scale.each().toNanos() / scale.rounds();
        round(roundNs, work);
        double[] times = new double[scale.rounds()];
        for (int i = 0; i < times.length; i++) {
            times[i] = round(roundNs, work);
        }
        return median(times);
    }

    private static double round(long roundNs, Work work) throws Exception {
        long start = System.nanoTime();
        long runs = 0;
        long elapsed;
        do {
            work.run();
            runs++;
            elapsed = System.nanoTime() - start;
        } while (elapsed < roundNs);
        return (double) elapsed / runs;
    }

    /** Returns the rate of a run that moves {@code bytesPerRun} bytes, in GB/s. */
    static double gigabytesPerSecond(Scale scale, long bytesPerRun, Work work) throws Exception {
        return bytesPerRun / nanosPerRun(scale, work);
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Returns a percentile of the first {@code count} values. */
    static double percentile(long[] values, int count, int percent) {
        long[] sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        return sorted[Math.min(count - 1, (int) ((long) count * percent / 100))];
    }

    /** Waits for a fence without pauses, which would add to the measured time, and closes it. */
    static void spin(Fence fence) {
        try (fence) {
            spinOpen(fence);
        }
    }

    /** Waits for a fence without long pauses. Constant queries would hold up other threads in the driver. */
    static void spinOpen(Fence fence) {
        for (int looks = 0; !fence.isPassed(); looks++) {
            if (looks > 10_000) {
                LockSupport.parkNanos(1_000); // negligible after such a long wait
            } else {
                long queried = System.nanoTime();
                while (System.nanoTime() - queried < BETWEEN_QUERIES_NS) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
