package dev.larder.distributed;

import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import java.nio.file.Path;
import java.time.Duration;

/** A rank that meets the others at an address, sums, closes the group, and makes another. */
final class InitProcess {
    private InitProcess() {}

    /** Takes the folder of the regions and the address. */
    public static void main(String[] arguments) {
        try (Regions regions = FolderRegions.in(Path.of(arguments[0]))) {
            for (int round = 0; round < 3; round++) {
                try (ProcessGroup group = ProcessGroups.init(regions, arguments[1], Duration.ofSeconds(30))) {
                    int[] sum = {group.rank() + 1};
                    group.allReduce(Span.of(sum), ReduceOp.SUM);
                    System.out.println("sum " + sum[0] + " of " + group.worldSize());
                }
            }
        }
    }
}
