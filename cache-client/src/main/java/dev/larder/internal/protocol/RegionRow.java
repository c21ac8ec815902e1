package dev.larder.internal.protocol;

import java.nio.file.Path;
import java.time.Instant;

/**
 * Describes a region, which is memory that several processes write.
 *
 * @param kind the kind of its data, such as {@code shared-array}
 * @param id the number in its file name and of its locks; see {@link dev.larder.internal.layout.RegionDescriptor}
 * @param bytes length of its data
 * @param path its file
 * @param creatorPid the process that requested it, as the kernel reported
 */
public record RegionRow(String name, String kind, long id, long bytes, String path, long creatorPid, Instant created) {
    /** Returns the file. */
    public Path file() {
        return Path.of(path);
    }
}
