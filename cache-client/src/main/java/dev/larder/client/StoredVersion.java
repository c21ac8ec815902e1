package dev.larder.client;

import dev.larder.internal.layout.ShardFile;
import java.nio.file.Path;

/**
 * The files and the lease of an open {@link Dataset}, for operators and for programs beside Java; trainers read its arrays instead.
 * Valid for as long as the dataset is open.
 */
public final class StoredVersion {
    private final Dataset dataset;

    StoredVersion(Dataset dataset) {
        this.dataset = dataset;
    }

    /** Returns the folder of the version, for other programs to read. */
    public Path folder() {
        return dataset.folder();
    }

    /** Returns the file that an array lies in, alone or with others, for other programs to read. */
    public Path file(String array) {
        return dataset.file(array);
    }

    /** Lets a program that this process becomes by {@code exec} go on holding the lease, on a descriptor that it inherits. */
    public void keepLeaseAcrossExec() {
        dataset.keepLeaseAcrossExec();
    }

    /** Returns how many shards the dataset was cut into when it was loaded, one a node; 1 where this is all of it. */
    public int shards() {
        ShardFile shard = ShardFile.read(dataset.folder());
        return shard == null ? 1 : shard.rows().count();
    }

    /** Returns which of the shards this is, from 0. */
    public int shardIndex() {
        ShardFile shard = ShardFile.read(dataset.folder());
        return shard == null ? 0 : shard.rows().index();
    }

    /** Returns the digest of what this is a shard of, or of this where it is whole; empty where nodes have not agreed on it yet. */
    public String wholeDigest() {
        ShardFile shard = ShardFile.read(dataset.folder());
        return shard == null ? dataset.digest() : shard.of();
    }

    /**
     * Fails with {@link dev.larder.error.ErrorCode#CHECKSUM} where a file that is mapped in place was written or replaced since it
     * was loaded, as views show what such a file holds now. Each view asks once, when it is opened. What was copied into the
     * store cannot change.
     */
    public void requireSourcesUnchanged() {
        dataset.requireSourcesUnchanged();
    }
}
