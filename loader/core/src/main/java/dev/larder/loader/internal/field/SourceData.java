package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.StoredVersion;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.sample.Shard;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The datasets that a loader reads: a single one, or several that are concatenated or zipped.
 *
 * @param joins the way to join several datasets
 * @param key an array or column of texts that must be equal in all zipped datasets; null to compare only the numbers of rows
 */
public record SourceData(
        List<Dataset> datasets, Joins joins, @Nullable String key) {
    /** Separator before the number of a shard. */
    public static final String HERE = ":";

    private static final int CHUNK_BYTES = 64 << 20;

    /** The ways to join datasets. */
    public enum Joins {
        /** The rows of one dataset follow those of the other. */
        CONCAT,
        /** Each sample has one row of every dataset. */
        ZIP
    }

    /** Checks that there is a dataset, and that zipped datasets have different names. */
    public SourceData {
        datasets = List.copyOf(datasets);
        if (datasets.isEmpty()) {
            throw new IllegalArgumentException("at least one dataset is required");
        }
        if (joins == Joins.ZIP && names(datasets).distinct().count() < datasets.size()) {
            throw new IllegalArgumentException("zipped datasets must have different names: names="
                    + names(datasets).toList());
        }
    }

    /** Returns the source data of a single dataset. */
    public static SourceData of(Dataset dataset) {
        return new SourceData(List.of(dataset), Joins.CONCAT, null);
    }

    private static Stream<String> names(List<Dataset> datasets) {
        return datasets.stream().map(Dataset::name);
    }

    /** Returns whether there is only one. */
    public boolean isOne() {
        return datasets.size() == 1;
    }

    boolean isConcatenated() {
        return joins == Joins.CONCAT && !isOne();
    }

    /** Returns their names for messages and states. */
    public String name() {
        return names(datasets).collect(Collectors.joining("+"));
    }

    /** Returns their versions for messages. */
    public String version() {
        return datasets.stream()
                .map(dataset -> String.valueOf(dataset.version()))
                .collect(Collectors.joining("+"));
    }

    /** Returns the digest of their contents: that of the single dataset, or one over the join and all digests. */
    public String digest() {
        return joined(SourceData::digest);
    }

    /** Returns the digest and the number of this shard, for positions that are valid only on this node. */
    public String digestHere() {
        return joined(dataset -> {
            StoredVersion stored = dataset.stored();
            return digest(dataset) + (stored.shards() == 1 ? "" : HERE + stored.shardIndex());
        });
    }

    private String joined(Function<Dataset, String> digest) {
        String digests = datasets.stream().map(digest).collect(Collectors.joining(","));
        return isOne() ? digests : joins.name().toLowerCase(java.util.Locale.ROOT) + "(" + digests + ")";
    }

    /** Returns the digest that all shards of a dataset share, so that a state saved with one shard can resume with any other. */
    private static String digest(Dataset dataset) {
        StoredVersion stored = dataset.stored();
        int shards = stored.shards();
        return shards == 1 ? dataset.digest() : stored.wholeDigest() + "/" + shards;
    }

    /**
     * Converts a rank's part of all nodes' rows to its part of this node's rows. Returns it unchanged if this node has all rows.
     *
     * @throws dev.larder.error.LarderException USAGE if that rank is on another node, BAD_INPUT if datasets were cut differently,
     *     REFUSED if nodes have not agreed on the dataset of this shard
     */
    public Shard here(Shard shard) {
        StoredVersion stored = datasets.get(0).stored();
        int shards = stored.shards();
        int index = stored.shardIndex();
        for (Dataset dataset : datasets) {
            if (dataset.stored().shards() != shards || dataset.stored().shardIndex() != index) {
                throw failure(ErrorCode.BAD_INPUT, "datasets of one loader are cut differently")
                        .with(datasets.get(0).name(), index + "/" + shards)
                        .with(
                                dataset.name(),
                                dataset.stored().shardIndex() + "/"
                                        + dataset.stored().shards())
                        .remedy("load all of them as whole, or all of them as shard");
            }
            if (dataset.stored().wholeDigest().isEmpty()) {
                throw failure(ErrorCode.REFUSED, "this shard was loaded again, and its source has changed")
                        .with("shard", index + "/" + shards)
                        .remedy("start the run again with larder launch --data, which compares all shards");
            }
        }
        if (shards == 1) {
            return shard;
        }
        int ranksHere = shard.world() / shards;
        if (shard.world() % shards != 0 || shard.rank() / ranksHere != index) {
            throw failure(ErrorCode.USAGE, "this rank's rows are not on this node")
                    .with("rank", shard.rank())
                    .with("world", shard.world())
                    .with("shard", index + "/" + shards)
                    .remedy(
                            "call shard(RANK, WORLD_SIZE), with equally many ranks on each node, as larder launch starts them");
        }
        return new Shard(shard.rank() % ranksHere, ranksHere, shard.tail());
    }

    /** Fails if a file that was loaded in place has changed. */
    public void requireSourcesUnchanged() {
        for (int i = 0; i < datasets.size(); i++) {
            datasets.get(i).stored().requireSourcesUnchanged();
        }
    }

    /** Returns the total time to open them. */
    public Duration openingTime() {
        return datasets.stream().map(Dataset::openingTime).reduce(Duration.ZERO, Duration::plus);
    }

    /** Starts a failure that names them. */
    public Failure failure(ErrorCode code, String what) {
        return Failure.of(code, what).with("dataset", name()).with("version", version());
    }

    /** Returns the datasets of a field: all, or the zipped one that has it. */
    List<Dataset> of(FieldSpec field) {
        String named = field.dataset();
        if (isConcatenated()) {
            if (named != null) {
                throw new IllegalArgumentException(
                        "a field is read from all datasets whose rows follow each other: field=" + field.name()
                                + " dataset=" + named + "; leave from(…) out");
            }
            return datasets;
        }
        List<Dataset> having = datasets.stream()
                .filter(dataset -> named == null
                        ? isOne() || has(dataset, field.column())
                        : dataset.name().equals(named))
                .toList();
        if (having.size() == 1) {
            return having;
        }
        throw failure(ErrorCode.BAD_INPUT, having.isEmpty() ? "no dataset has this" : "several datasets have this")
                .with("array", field.column())
                .with("named", named == null ? "" : named)
                .remedy("name one of these datasets: Field.….from(dataset)");
    }

    private static boolean has(Dataset dataset, String column) {
        return dataset.arrayNames().contains(column)
                || dataset.columns().stream().anyMatch(each -> each.name().equals(column));
    }

    /** Checks that zipped datasets match: their keys must be equal. */
    void requireSameKeys() {
        if (key == null) {
            return;
        }
        Dataset first = datasets.get(0);
        for (Dataset other : datasets.subList(1, datasets.size())) {
            if (first.arrayNames().contains(key)) {
                requireSameRows(first, first.array(key), other, other.array(key));
            } else {
                requireSameTexts(first, first.strings(key), other, other.strings(key));
            }
        }
    }

    private void requireSameRows(Dataset first, ArrayView expected, Dataset other, ArrayView found) {
        if (!expected.dtype().equals(found.dtype()) || !java.util.Arrays.equals(expected.shape(), found.shape())) {
            throw keysDiffer(first, other)
                    .with(first.name(), expected)
                    .with(other.name(), found)
                    .exception();
        }
        for (long at = 0; at < expected.byteSize(); at += CHUNK_BYTES) {
            int length = (int) Math.min(CHUNK_BYTES, expected.byteSize() - at);
            ByteBuffer one = expected.dataBuffer(at, length);
            int differs = one.mismatch(found.dataBuffer(at, length));
            if (differs >= 0) {
                throw keysDiffer(first, other)
                        .with("row", (at + differs) / Math.max(1, expected.rowByteSize()))
                        .remedy("zip datasets with the same rows in the same order");
            }
        }
    }

    private void requireSameTexts(Dataset first, StringsColumn expected, Dataset other, StringsColumn found) {
        if (expected.rows() != found.rows()) {
            throw keysDiffer(first, other)
                    .with(first.name(), expected.rows())
                    .with(other.name(), found.rows())
                    .exception();
        }
        for (long row = 0; row < expected.rows(); row++) {
            if (!expected.get(row).equals(found.get(row))) {
                throw keysDiffer(first, other)
                        .with("row", row)
                        .with(first.name(), expected.get(row))
                        .with(other.name(), found.get(row))
                        .remedy("zip datasets with the same rows in the same order");
            }
        }
    }

    private Failure keysDiffer(Dataset first, Dataset other) {
        return Failure.of(ErrorCode.BAD_INPUT, "rows of these datasets do not belong together")
                .with("dataset", first.name())
                .with("other", other.name())
                .with("key", key == null ? "" : key);
    }
}
