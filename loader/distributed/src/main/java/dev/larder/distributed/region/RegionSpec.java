package dev.larder.distributed.region;

import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.RegionDescriptor;

/**
 * The properties of a region.
 *
 * @param name one path component, like that of a dataset
 * @param kind of its content, such as {@code shared-array}, at most 31 characters; it cannot be opened as another kind
 * @param byteSize of its data, above zero
 */
public record RegionSpec(String name, String kind, long byteSize) {
    /** Checks the values. */
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
