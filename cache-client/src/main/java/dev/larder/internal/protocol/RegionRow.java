package dev.larder.internal.protocol;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * Describes a region: memory that processes write together.
 *
 * @param kind what is in it, such as {@code shared-array}
 * @param id what its locks and its file are called by; see {@link dev.larder.internal.layout.RegionDescriptor}
 * @param bytes of its data
 * @param path its file; empty where it is sealed memory without a name
 * @param creatorPid the process that asked for it, as the kernel saw it
 */
public record RegionRow(String name, String kind, long id, long bytes, String path, long creatorPid, Instant created) {
    /** Returns the file; empty if it is sealed memory without a name. */
    public Optional<Path> file() {
        return path.isEmpty() ? Optional.empty() : Optional.of(Path.of(path));
    }
}
