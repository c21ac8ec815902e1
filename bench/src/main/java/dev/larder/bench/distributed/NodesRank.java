package dev.larder.bench.distributed;

import dev.larder.bench.Rows;
import dev.larder.client.Larder;
import dev.larder.distributed.ProcessGroup;
import dev.larder.distributed.ProcessGroups;
import dev.larder.distributed.ReduceOp;
import dev.larder.distributed.Span;
import dev.larder.distributed.region.Regions;
import java.util.Arrays;

/**
 * One rank of a group over nodes that its environment describes: times sums of floats. Rank 0 prints a row of JSON for each length, with
 * the bytes that it sends to other nodes for each sum.
 *
 * <p>Arguments: rounds, then any number of byte sizes.
 */
public final class NodesRank {
    private static final int WARM_UP = 3;

    private NodesRank() {}

    /** Measures, and ends. */
    public static void main(String[] arguments) {
        int rounds = Integer.parseInt(arguments[0]);
        try (Larder larder = Larder.connect();
                Regions regions = Regions.of(larder);
                ProcessGroup group = ProcessGroups.init(regions)) {
            for (int i = 1; i < arguments.length; i++) {
                measure(group, rounds, Long.parseLong(arguments[i]));
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(0); // threads of a transport may not end by themselves
    }

    private static void measure(ProcessGroup group, int rounds, long byteSize) {
        float[] data = new float[Math.toIntExact(byteSize / Float.BYTES)];
        Arrays.fill(data, 1);
        group.allReduce(Span.of(data), ReduceOp.SUM);
        if (data[0] != group.worldSize() || data[data.length - 1] != group.worldSize()) {
            throw new IllegalStateException("wrong sum: " + data[0]);
        }
        for (int i = 0; i < WARM_UP; i++) {
            group.allReduce(Span.of(data), ReduceOp.AVG);
        }
        double[] micros = new double[rounds];
        long before = group.sentByteCount();
        for (int i = 0; i < rounds; i++) {
            long startNs = System.nanoTime();
            group.allReduce(Span.of(data), ReduceOp.AVG);
            micros[i] = (System.nanoTime() - startNs) / 1e3;
        }
        long sent = (group.sentByteCount() - before) / rounds;
        Arrays.sort(micros);
        if (group.rank() == 0) {
            double median = micros[rounds / 2];
            Rows.print(new Row("larder", "allReduce", group.worldSize(), byteSize, micros[0], median, sent));
        }
    }

    private record Row(
            String engine, String what, int ranks, long bytes, double bestUs, double medianUs, long sentBytes) {}
}
