package dev.larder.server.store.version;

import dev.larder.internal.protocol.LoadOptions;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The sources of a version: enough to load it again, and to find out whether a load would give the same version.
 *
 * @param origins the paths that the load named; empty for computed data
 * @param options how they were read and stored
 * @param sources every file that was read
 * @param ttlMs the version is removed after this time without use; 0 for no limit
 * @param publisher the user that had it published
 * @param shard the part of the whole; null if it is whole
 * @param look a hash that differs after any change of the files on this machine; empty if it is not known
 */
public record Provenance(
        List<String> origins,
        LoadOptions options,
        List<SourceRecord> sources,
        long ttlMs,
        Publisher publisher,
        @Nullable ShardRecord shard,
        String look) {
    /** Copies the lists; a missing publisher means the owner, and a missing look an unknown one. */
    public Provenance {
        origins = List.copyOf(origins);
        sources = List.copyOf(sources);
        publisher = Objects.requireNonNullElse(publisher, Publisher.OWNER);
        look = Objects.requireNonNullElse(look, "");
    }

    /** Describes a load by the owner of the store. */
    public Provenance(List<String> origins, LoadOptions options, List<SourceRecord> sources, long ttlMs) {
        this(origins, options, sources, ttlMs, Publisher.OWNER, null, "");
    }

    /** Returns a copy with this publisher. */
    public Provenance withPublisher(Publisher other) {
        return new Provenance(origins, options, sources, ttlMs, other, shard, look);
    }

    /** Returns a copy with these rows. */
    public Provenance withShard(@Nullable ShardRecord part) {
        return new Provenance(origins, options, sources, ttlMs, publisher, part, look);
    }

    /** Returns a copy that names the whole that {@code other} names, if both are the same part; otherwise this. */
    public Provenance withWholeOf(Provenance other) {
        return shard != null && other.shard != null && shard.isSameAs(other.shard)
                ? withShard(shard.withWhole(other.shard.of()))
                : this;
    }

    /** Returns the provenance of computed data. */
    public static Provenance computed(long ttlMs) {
        return new Provenance(List.of(), LoadOptions.none(), List.of(), ttlMs);
    }

    /** Returns a copy with another time to live. */
    public Provenance withTtlMs(long otherMs) {
        return new Provenance(origins, options, sources, otherMs, publisher, shard, look);
    }

    /** Returns a copy with the look of the sources. */
    public Provenance withLook(String other) {
        return new Provenance(origins, options, sources, ttlMs, publisher, shard, other);
    }
}
