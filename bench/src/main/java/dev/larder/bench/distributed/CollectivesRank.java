package dev.larder.bench.distributed;

import dev.larder.bench.Rows;
import dev.larder.client.Larder;
import dev.larder.distributed.ElementType;
import dev.larder.distributed.ProcessGroup;
import dev.larder.distributed.ProcessGroups;
import dev.larder.distributed.ReduceOp;
import dev.larder.distributed.Span;
import dev.larder.distributed.region.Regions;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/** One rank of several JVMs on this machine that time collectives. Rank 0 prints rows of JSON. */
final class CollectivesRank {
    private static final List<Integer> SIZES = List.of(4096, 64 << 10, 1 << 20, 16 << 20, 100 << 20);
    private static final long BYTES_OF_A_TRIAL = 400L << 20;
    private static final int MOST_CALLS = 5000;
    private static final int WARM_UP_TRIALS = 4;

    private final ProcessGroup group;
    private final int trials;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    private CollectivesRank(ProcessGroup group, int trials) {
        this.group = group;
        this.trials = trials;
    }

    /** Arguments: the store, key, rank, world size and number of trials. */
    public static void main(String[] arguments) {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Regions regions = Regions.of(larder);
                ProcessGroup group = ProcessGroups.of(regions, arguments[1])
                        .join(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]))) {
            new CollectivesRank(group, Integer.parseInt(arguments[4])).run();
        }
    }

    private interface Call {
        void run();
    }

    private void run() {
        measure("barrier", 0, group::barrier);
        for (int byteSize : SIZES) {
            UnsafeBuffer data = buffer(byteSize);
            UnsafeBuffer other = buffer(byteSize);
            Span span = Span.of(ElementType.FLOAT, data);
            measure("allReduce", byteSize, () -> group.allReduce(span, ReduceOp.SUM));
            measure("broadcast", byteSize, () -> group.broadcast(span, 0));
            measure("copy", byteSize, () -> other.putBytes(0, data, 0, byteSize)); // by all ranks at the same time
        }
    }

    private static UnsafeBuffer buffer(int byteSize) {
        UnsafeBuffer buffer =
                new UnsafeBuffer(ByteBuffer.allocateDirect(byteSize).order(ByteOrder.nativeOrder()));
        for (int at = 0; at < byteSize; at += Float.BYTES) {
            buffer.putFloat(at, 0f); // repeated sums stay finite
        }
        return buffer;
    }

    private void measure(String what, int byteSize, Call call) {
        int calls = (int) Math.max(1, Math.min(MOST_CALLS, BYTES_OF_A_TRIAL / Math.max(1, byteSize)));
        double[] us = new double[trials];
        double cpuUs = 0;
        for (int trial = -WARM_UP_TRIALS; trial < trials; trial++) {
            group.barrier();
            long cpuNs = threads.getCurrentThreadCpuTime();
            long startNs = System.nanoTime();
            for (int i = 0; i < calls; i++) {
                call.run();
            }
            if (trial >= 0) {
                us[trial] = (System.nanoTime() - startNs) / 1e3 / calls;
                cpuUs += (threads.getCurrentThreadCpuTime() - cpuNs) / 1e3 / calls / trials;
            }
        }
        if (group.rank() == 0) {
            Arrays.sort(us);
            Rows.print(new Row("larder", what, group.worldSize(), byteSize, us[0], us[trials / 2], cpuUs));
        }
    }

    /** The best and median time of a call, and the processor time of one rank's thread for it; other engines print the same keys. */
    private record Row(
            String engine, String what, int ranks, long bytes, double bestUs, double medianUs, double cpuUs) {}
}
