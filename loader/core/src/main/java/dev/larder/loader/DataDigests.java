package dev.larder.loader;

import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.slot.Receipt;
import org.jspecify.annotations.Nullable;

/** The digests of a loader's data. They are read at the first state: they are in files, and a receipt begins with a hash of one. */
final class DataDigests {
    private final SourceData data;
    private volatile @Nullable Values values;

    DataDigests(SourceData data) {
        this.data = data;
    }

    private record Values(String whole, String here, Receipt start) {}

    /** Returns the digest of all data. */
    String whole() {
        return values().whole;
    }

    /** Returns the digest with the number of this shard, for positions that are valid only on this node. */
    String here() {
        return values().here;
    }

    /** Returns the receipt of no samples. */
    Receipt start() {
        return values().start;
    }

    private Values values() {
        Values read = values;
        if (read == null) {
            String whole = data.digest();
            read = new Values(whole, data.digestHere(), Receipt.ofDataset(whole));
            values = read;
        }
        return read;
    }
}
