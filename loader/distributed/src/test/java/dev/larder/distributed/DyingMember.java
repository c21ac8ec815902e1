package dev.larder.distributed;

import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import java.nio.file.Path;

/** Rank 1 of 3 in a process of its own, that ends after all have agreed on a subgroup, and before it joins that. */
final class DyingMember {
    static final int EXIT_CODE = 9;

    private DyingMember() {}

    /** Takes the folder of the regions and the key of the group. */
    public static void main(String[] arguments) {
        try (Regions regions = FolderRegions.in(Path.of(arguments[0]), spec -> {
                    if (spec.name().contains(".sub")) {
                        System.out.println("dies");
                        Runtime.getRuntime().halt(EXIT_CODE);
                    }
                });
                ProcessGroup group = ProcessGroups.of(regions, arguments[1]).join(1, 3)) {
            group.subgroup(2, 1, 0).orElseThrow().close();
        }
    }
}
