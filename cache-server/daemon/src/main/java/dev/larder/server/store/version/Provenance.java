package dev.larder.server.store.version;

import dev.larder.internal.protocol.LoadOptions;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Says where a version came from, so that it can be loaded again, and so that one can tell whether it would come out the same.
 *
 * @param origins the paths that the load was asked for; empty for what was computed
 * @param options how they were read and kept
 * @param sources every file that was read
 * @param ttlMs it leaves when nobody has used it for so long; 0 where time alone does not remove it
 * @param publisher who had it published
 * @param shard what it is a part of; null where it is whole
 */
public record Provenance(
        List<String> origins,
        LoadOptions options,
        List<SourceRecord> sources,
        long ttlMs,
        Publisher publisher,
        @Nullable ShardRecord shard) {
    /** Copies the lists; a manifest that names no publisher is the owner's. */
    public Provenance {
        origins = List.copyOf(origins);
        sources = List.copyOf(sources);
        publisher = Objects.requireNonNullElse(publisher, Publisher.OWNER);
    }

    /** Says where the owner of the store had a version loaded from. */
    public Provenance(List<String> origins, LoadOptions options, List<SourceRecord> sources, long ttlMs) {
        this(origins, options, sources, ttlMs, Publisher.OWNER, null);
    }

    /** Returns the same, published by somebody else. */
    public Provenance withPublisher(Publisher other) {
        return new Provenance(origins, options, sources, ttlMs, other, shard);
    }

    /** Returns the same, of some rows. */
    public Provenance withShard(@Nullable ShardRecord part) {
        return new Provenance(origins, options, sources, ttlMs, publisher, part);
    }

    /** Returns the same; where it is a part of what another is the same part of, of a whole that is known from there. */
    public Provenance knowingWhole(Provenance other) {
        return shard != null && other.shard != null && shard.isSameAs(other.shard)
                ? withShard(shard.of(other.shard.of()))
                : this;
    }

    /** Returns what holds for a version that was computed. */
    public static Provenance computed(long ttlMs) {
        return new Provenance(List.of(), LoadOptions.none(), List.of(), ttlMs);
    }

    /** Returns the same with another time to live. */
    public Provenance withTtlMs(long otherMs) {
        return new Provenance(origins, options, sources, otherMs, publisher, shard);
    }
}
