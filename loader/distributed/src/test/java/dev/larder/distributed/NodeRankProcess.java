package dev.larder.distributed;

import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/** A rank of one of several nodes, in a process of its own, that joins one group after the other as {@link RankProcess} does. */
final class NodeRankProcess {
    private NodeRankProcess() {}

    /** Takes a folder, rank, sizes of nodes, port, number of the first group, seed, and the timeout of calls in milliseconds. */
    public static void main(String[] arguments) {
        int rank = Integer.parseInt(arguments[1]);
        RankLayout layout = RankLayout.ofSizes(Arrays.stream(arguments[2].split(",", -1))
                .mapToInt(Integer::parseInt)
                .toArray());
        int node = layout.blockOf(rank);
        String place = "127.0.0.1:" + arguments[3];
        long seed = Long.parseLong(arguments[5]);
        try (Regions regions = FolderRegions.in(Path.of(arguments[0]).resolve("node-" + node))) {
            for (int round = Integer.parseInt(arguments[4]); ; round++) {
                String key = "round-" + round;
                ProcessGroups groups = ProcessGroups.of(regions, key)
                        .transport(new SocketTransport())
                        .timeout(Duration.ofMillis(Long.parseLong(arguments[6])))
                        .joinTimeout(Duration.ofSeconds(60));
                RendezvousResult seat = new RendezvousResult(
                        rank, layout.worldSize(), layout.placeOf(rank), layout.size(node), node, layout.blocks(), key);
                try (ProcessGroup group = groups.join(seat, place, "")) {
                    System.out.println("joined " + round);
                    new RankProcess(group, seed + round).callForEver();
                } catch (LarderException e) {
                    System.out.println("failed " + round + " " + e.code() + " " + e.getMessage());
                }
            }
        }
    }
}
