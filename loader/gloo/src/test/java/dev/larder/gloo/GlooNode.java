package dev.larder.gloo;

import dev.larder.distributed.ProcessGroup;
import dev.larder.distributed.ProcessGroups;
import dev.larder.distributed.ReduceOp;
import dev.larder.distributed.Span;
import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/** The only rank of one of two nodes, in a process of its own. It sums by Gloo until the group breaks, and ends. */
final class GlooNode {
    private static final int NODES = 2;
    private static final int ELEMENTS = 1 << 20;
    private static final int SUMS_OF_A_LINE = 20;

    private GlooNode() {}

    /**
     * Takes a folder, the node, the address and port where the nodes meet, the name of the run, and the timeouts of calls and of joining in
     * milliseconds.
     */
    public static void main(String[] arguments) {
        int node = Integer.parseInt(arguments[1]);
        String place = arguments[2] + ":" + arguments[3];
        String secret = "the secret of " + arguments[4];
        RendezvousResult seat = new RendezvousResult(node, NODES, 0, 1, node, NODES, arguments[4]);
        try (Regions regions = FolderRegions.in(Path.of(arguments[0]).resolve(arguments[4] + "-" + node));
                ProcessGroup group = ProcessGroups.of(regions, arguments[4])
                        .timeout(Duration.ofMillis(Long.parseLong(arguments[5])))
                        .joinTimeout(Duration.ofMillis(Long.parseLong(arguments[6])))
                        .join(seat, place, secret)) {
            System.out.println("joined");
            sumForEver(group);
        } catch (LarderException e) {
            System.out.println("failed " + e.code() + " " + e.getMessage());
        }
    }

    private static void sumForEver(ProcessGroup group) {
        float[] data = new float[ELEMENTS];
        for (int sums = 1; ; sums++) {
            Arrays.fill(data, group.rank() + 1);
            group.allReduce(Span.of(data), ReduceOp.SUM);
            if (data[0] != 3 || data[ELEMENTS - 1] != 3) {
                throw new IllegalStateException("wrong: " + data[0] + " " + data[ELEMENTS - 1]);
            }
            if (sums % SUMS_OF_A_LINE == 0) {
                System.out.println("summed");
            }
        }
    }
}
