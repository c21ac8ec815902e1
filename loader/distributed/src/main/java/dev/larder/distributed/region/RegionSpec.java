package dev.larder.distributed.region;

import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.RegionDescriptor;

/**
 * Says what a region is to be.
 *
 * @param name one path component, as that of a dataset
 * @param kind what is in it, such as {@code shared-array}, at most 31 characters: whoever opens it as another kind is refused
 * @param byteSize of its data, above zero
 */
public record RegionSpec(String name, String kind, long byteSize, SharingStrategy strategy) {
    /** Refuses what no region can be. */
    public RegionSpec {
        Names.requireDataset(name);
        if (!kind.matches("[a-z0-9-]+") || kind.length() >= RegionDescriptor.KIND_LENGTH) {
            throw new IllegalArgumentException("kind: " + kind);
        }
        if (byteSize <= 0 || byteSize > 1L << 60) {
            throw new IllegalArgumentException("byteSize: " + byteSize);
        }
    }
}
