package dev.larder.bench.gpu;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.opencl.OpenClDevice;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Iterator;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Measures the extra cost of device batches on the host: processor time, garbage, threads and waits. */
final class CostPart {
    /** Long enough for systems that count processor time in steps of 10 ms. */
    private static final Duration WAIT = Duration.ofSeconds(4);

    private static final String PART = "host cost";
    private static final int ROW_BYTES = 3_072;
    private static final int BATCH = 256;
    private static final int WARM_UP = 1_500;
    private static final int BATCHES = 1_000;
    private static final double MOST_EXTRA_US = 200;
    private static final double MOST_GARBAGE_BYTES = 2_048;
    private static final double MOST_WAITING_SHARE = 5;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private CostPart() {}

    /**
     * The cost of a batch.
     *
     * @param handlingUs the processor time of the consumer and the loader's threads, except gather threads
     * @param gatheringUs the processor time of the gather threads
     * @param garbageBytes the bytes that all these threads allocated on the heap
     * @param wallUs the elapsed time
     */
    private record Cost(double handlingUs, double gatheringUs, double garbageBytes, double wallUs) {
        static Cost now() {
            long handling = 0;
            long gathering = 0;
            long garbage = 0;
            for (long id : THREADS.getAllThreadIds()) {
                var info = THREADS.getThreadInfo(id);
                if (info == null) {
                    continue;
                }
                long processor = Math.max(0, THREADS.getThreadCpuTime(id));
                if (info.getThreadName().startsWith("larder-gather")) {
                    gathering += processor;
                } else if (isOurs(info.getThreadName())) {
                    handling += processor;
                }
                garbage += isOurs(info.getThreadName()) ? Math.max(0, THREADS.getThreadAllocatedBytes(id)) : 0;
            }
            return new Cost(handling / 1e3, gathering / 1e3, garbage, System.nanoTime() / 1e3);
        }

        private static boolean isOurs(String thread) {
            return thread.startsWith("larder-")
                    || thread.equals(Thread.currentThread().getName());
        }

        Cost perBatchSince(Cost start) {
            return new Cost(
                    (handlingUs - start.handlingUs) / BATCHES,
                    (gatheringUs - start.gatheringUs) / BATCHES,
                    (garbageBytes - start.garbageBytes) / BATCHES,
                    (wallUs - start.wallUs) / BATCHES);
        }
    }

    static void run(Bench bench) throws Exception {
        try (Dataset dataset = bench.store().publishRows("cost", bench.scale().arrayBytes(), ROW_BYTES)) {
            LoaderBuilder loader = Bench.loader(dataset, BATCH, Bench.TO_HALF)
                    .sampler(new RandomRows((long) BATCH * (WARM_UP + BATCHES)));
            Cost host;
            try (Loader onHost = loader.build()) {
                host = cost(onHost);
            }
            report(bench, "host", host, host);
            for (DeviceMode mode : new DeviceMode[] {DeviceMode.STREAM, DeviceMode.RESIDENT}) {
                Set<String> before = threads();
                try (Loader onDevice = bench.open(loader, mode)) {
                    Cost cost = cost(onDevice);
                    report(bench, mode.name().toLowerCase(Locale.ROOT), cost, host);
                    judge(bench, mode.name().toLowerCase(Locale.ROOT), cost, host);
                    hiddenThreads(bench, mode, before);
                }
            }
            waiting(bench, loader);
            busy(bench);
        } finally {
            bench.store().remove("cost");
        }
    }

    private static Cost cost(Loader loader) {
        Iterator<Batch> batches = loader.epoch(0).iterator();
        for (int i = 0; i < WARM_UP; i++) {
            batches.next();
        }
        Cost start = Cost.now();
        for (int i = 0; i < BATCHES; i++) {
            batches.next();
        }
        return Cost.now().perBatchSince(start);
    }

    private static void report(Bench bench, String mode, Cost cost, Cost host) {
        String batch = mode + ", 256 x 3 KB, ";
        bench.report()
                .add(Measurement.of(PART, batch + "by the clock", cost.wallUs, "us")
                        .beside(host.wallUs, "host batches"));
        bench.report().add(Measurement.of(PART, batch + "handling", cost.handlingUs, "us"));
        bench.report().add(Measurement.of(PART, batch + "gathering", cost.gatheringUs, "us"));
    }

    private static void judge(Bench bench, String mode, Cost cost, Cost host) {
        String batch = mode + ", 256 x 3 KB, ";
        bench.report()
                .add(Measurement.of(PART, batch + "extra processor time", cost.handlingUs - host.handlingUs, "us")
                        .atMost(MOST_EXTRA_US, true)
                        .noted("consumer, upload and retire threads, less the consumer of host batches"));
        bench.report()
                .add(Measurement.of(PART, batch + "garbage", cost.garbageBytes, "B")
                        .atMost(MOST_GARBAGE_BYTES, true));
    }

    private static Set<String> threads() {
        Set<String> names = new TreeSet<>();
        Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
        return names;
    }

    private static void hiddenThreads(Bench bench, DeviceMode mode, Set<String> before) {
        Set<String> more = threads();
        more.removeAll(before);
        more.removeIf(name -> name.startsWith("larder-"));
        bench.report()
                .add(Measurement.holds(
                        PART,
                        mode.name().toLowerCase(Locale.ROOT) + ", no hidden thread",
                        more.isEmpty(),
                        more.isEmpty() ? "" : "found " + more));
    }

    /** Blocks the consumer's queue, so that the loader and its consumer wait. */
    private static void waiting(Bench bench, LoaderBuilder builder) {
        Duration wait = WAIT;
        try (Loader loader = builder.device(bench.chosen())
                .deviceMode(DeviceMode.STREAM)
                .deviceSlots(2)
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            Batch batch = batches.next();
            var queue = OpenClDevice.queue(batch.parts().get(0).queue().orElseThrow());
            RawOpenCl.Gate gate = new RawOpenCl.Gate(queue);
            double share;
            try {
                batches.next();
                batch = batches.next();
                await(batch, bench.scale().each()); // meanwhile the gather threads fill all slots
                share = share(batch, wait);
            } finally {
                gate.open();
            }
            batch.await(Duration.ofSeconds(20));
            bench.report()
                    .add(Measurement.of(PART, "all waiting for a blocked queue", share, "% core")
                            .atMost(MOST_WAITING_SHARE, true)
                            .noted("processor time of the process over " + wait.toMillis() + " ms"));
        }
    }

    private static double share(Batch batch, Duration wait) {
        long processor = SYSTEM.getProcessCpuTime();
        long start = System.nanoTime();
        await(batch, wait);
        return 100.0 * (SYSTEM.getProcessCpuTime() - processor) / (System.nanoTime() - start);
    }

    private static void await(Batch batch, Duration limit) {
        try {
            batch.await(limit);
            throw new IllegalStateException("the batch is complete although its queue is blocked");
        } catch (LarderException e) {
            if (e.code() != ErrorCode.DEADLINE) {
                throw e;
            }
        }
    }

    /** Starts long uploads, and waits for them in this thread. */
    private static void busy(Bench bench) {
        String what = "waiting for a busy device";
        if (bench.info().kind().equals("cpu")) {
            bench.report().add(Measurement.notApplicable(PART, what, "the device is the processor"));
            return;
        }
        long bytes = bench.scale().mostUploadBytes();
        try (var host = bench.device().allocate(bytes);
                var target = bench.device().allocateDevice(bytes)) {
            var queue = bench.device().uploads();
            long start = System.nanoTime();
            long processor = SYSTEM.getProcessCpuTime();
            while (System.nanoTime() - start < bench.scale().each().toNanos() * 2) {
                for (int i = 0; i < 16; i++) {
                    queue.upload(host, 0, target, 0, bytes);
                }
                try (var done = queue.fence()) {
                    done.await(Duration.ofSeconds(30));
                }
            }
            double share = 100.0 * (SYSTEM.getProcessCpuTime() - processor) / (System.nanoTime() - start);
            bench.report()
                    .add(Measurement.of(PART, what, share, "% core")
                            .atMost(MOST_WAITING_SHARE, bench.isNvidia())
                            .noted("processor time of the process, including the calls for the uploads"));
        }
    }
}
