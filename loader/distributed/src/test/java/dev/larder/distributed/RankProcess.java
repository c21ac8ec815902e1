package dev.larder.distributed;

import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A rank in a process of its own, that joins one group after the other. In each it makes random calls, the same as all ranks of a
 * seed, until the group breaks, and checks every sum.
 */
final class RankProcess {
    private static final int LONGEST = 600_000;
    private static final Duration JOIN_PATIENCE = Duration.ofSeconds(60);

    private final SplittableRandom random;
    private final ProcessGroup group;

    RankProcess(ProcessGroup group, long seed) {
        this.group = group;
        this.random = new SplittableRandom(seed);
    }

    /** Takes the folder of the regions, rank, world size, number of the first group, seed, and the timeout of calls in milliseconds. */
    public static void main(String[] arguments) {
        int rank = Integer.parseInt(arguments[1]);
        int worldSize = Integer.parseInt(arguments[2]);
        long seed = Long.parseLong(arguments[4]);
        Duration timeout = Duration.ofMillis(Long.parseLong(arguments[5]));
        try (Regions regions = FolderRegions.in(Path.of(arguments[0]))) {
            for (int round = Integer.parseInt(arguments[3]); ; round++) {
                System.out.println("started " + round);
                ProcessGroups groups = ProcessGroups.of(regions, "round-" + round)
                        .timeout(timeout)
                        .joinTimeout(JOIN_PATIENCE);
                try (ProcessGroup group = groups.join(rank, worldSize)) {
                    System.out.println("joined " + round);
                    new RankProcess(group, seed + round).callForEver();
                } catch (LarderException e) {
                    System.out.println("failed " + round + " " + e.code() + " " + e.getMessage());
                }
            }
        }
    }

    void callForEver() {
        while (true) {
            int kind = random.nextInt(9);
            int elements = random.nextInt(1 + random.nextInt(LONGEST));
            int root = random.nextInt(group.worldSize());
            float[] data = new float[elements];
            Arrays.fill(data, group.rank() + 1);
            call(kind, data, root);
        }
    }

    private void call(int kind, float[] data, int root) {
        int worldSize = group.worldSize();
        float sum = worldSize * (worldSize + 1) / 2f;
        boolean isRoot = group.rank() == root;
        Span span = Span.of(data);
        switch (kind) {
            case 0 -> group.barrier();
            case 1 -> group.broadcast(span, root);
            case 2 -> group.allReduce(span, ReduceOp.SUM);
            case 3 -> group.reduce(span, ReduceOp.SUM, root);
            case 4 -> group.allGather(span, whole(data));
            case 5 -> group.gather(span, isRoot ? whole(data) : null, root);
            case 6 -> group.scatter(isRoot ? whole(data) : null, span, root);
            case 7 -> group.reduceScatter(whole(data), span, ReduceOp.MAX);
            default -> group.allReduceAsync(span, ReduceOp.AVG).await(Duration.ofMinutes(1));
        }
        if (kind == 2 || kind == 1 || kind == 8) {
            float expected = kind == 2 ? sum : kind == 1 ? root + 1 : sum / worldSize;
            for (float value : data) {
                if (value != expected) {
                    throw new IllegalStateException("wrong: kind=" + kind + " " + value + " for " + expected);
                }
            }
        }
    }

    private Span whole(float[] part) {
        return Span.of(new float[part.length * group.worldSize()]);
    }
}
