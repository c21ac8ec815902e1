package dev.larder.client;

import dev.larder.internal.layout.ShardFile;
import java.nio.file.Path;

/**
 * The files and the lease of an open {@link Dataset}, for operators and for programs in other languages. Trainers read arrays
 * instead. Valid while the dataset is open.
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

    /** Returns the file that contains an array, alone or with others, for other programs to read. */
    public Path file(String array) {
        return dataset.file(array);
    }

    /** Returns the position in its file of an array's first byte. */
    public long offset(String array) {
        return dataset.offset(array);
    }

    /** Lets a program that replaces this process through {@code exec} inherit the lease. */
    public void keepLeaseAcrossExec() {
        dataset.keepLeaseAcrossExec();
    }

    /** Returns the number of shards that the dataset was cut into when it was loaded, one per node; 1 if this is the whole dataset. */
    public int shards() {
        ShardFile shard = ShardFile.read(dataset.folder());
        return shard == null ? 1 : shard.rows().count();
    }

    /** Returns the index of this shard, from 0. */
    public int shardIndex() {
        ShardFile shard = ShardFile.read(dataset.folder());
        return shard == null ? 0 : shard.rows().index();
    }

    /** Returns the digest of the whole dataset. It is empty until the nodes have agreed on it. */
    public String wholeDigest() {
        ShardFile shard = ShardFile.read(dataset.folder());
        return shard == null ? dataset.digest() : shard.of();
    }

    /**
     * Fails with {@link dev.larder.error.ErrorCode#CHECKSUM} if a file that is mapped in place was written or replaced after the
     * load, because views show the current contents of such a file. Opening a view checks this once. Files in the store never
     * change.
     */
    public void requireSourcesUnchanged() {
        dataset.requireSourcesUnchanged();
    }
}
