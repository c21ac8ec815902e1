package dev.larder.internal.protocol;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * Describes a region, which is memory that several processes write.
 *
 * @param kind the kind of its data, such as {@code shared-array}
 * @param id the number in its file name and of its locks; see {@link dev.larder.internal.layout.RegionDescriptor}
 * @param bytes length of its data
 * @param path its file; empty if it is sealed memory without a name
 * @param creatorPid the process that requested it, as the kernel reported
 */
public record RegionRow(String name, String kind, long id, long bytes, String path, long creatorPid, Instant created) {
    /** Returns the file, or empty if it is sealed memory without a name. */
    public Optional<Path> file() {
        return path.isEmpty() ? Optional.empty() : Optional.of(Path.of(path));
    }
}
