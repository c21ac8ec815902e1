package dev.larder.internal.protocol;

import dev.larder.internal.layout.ShardRows;
import dev.larder.message.OptionalField;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Options for reading and storing sources. They are recorded with the version, so that it can be loaded again in the same way.
 *
 * @param keys only arrays that match one of these are loaded; empty means all
 * @param as the form of the result
 * @param dtype the element type of raw binary files, as in numpy; empty if the files contain it
 * @param shape the shape of raw binary files, as in {@code 100,28,28}, with at most one -1; empty if the files contain it
 * @param packBelowBytes smaller arrays share segments; 0 means never, {@link #PACK_AUTO} lets the store decide
 * @param strict whether sources are compared by a hash of every byte
 * @param inPlace whether files are mapped in place instead of copied
 * @param evenIfUnchanged whether sources are read again even if they seem unchanged
 * @param exclude patterns of files and folders to skip, as in a shell
 * @param shard the rows of each array to load; null means all
 * @param decimals {@code f8} to load decimals as doubles; empty to load them as integers without the point
 */
public record LoadOptions(
        @OptionalField List<String> keys,
        @OptionalField As as,
        @OptionalField String dtype,
        @OptionalField String shape,
        @OptionalField(orElse = LoadOptions.PACK_AUTO) long packBelowBytes,
        @OptionalField boolean strict,
        @OptionalField boolean inPlace,
        @OptionalField boolean evenIfUnchanged,
        @OptionalField List<String> exclude,
        @OptionalField @Nullable ShardRows shard,
        @OptionalField String decimals) {
    /** Lets the store decide which arrays share segments. */
    public static final long PACK_AUTO = -1;

    /** The form of a loaded source. */
    public enum As {
        /** Each array of a file is an array of the dataset. */
        ARRAYS,
        /** The files of a key are the rows of one column. */
        RAGGED,
        /** The lines of a text file are the rows of columns of texts. */
        STRINGS,
        /** The keys in a text file map to their line numbers. */
        INDEX,
        /** Any file is a row of raw bytes. */
        BYTES,
        /** Image files are rows of raw bytes, and their folders are their classes. */
        IMAGES
    }

    /** Copies the lists, and replaces absent values by their defaults, as in records of earlier releases. */
    public LoadOptions {
        keys = List.copyOf(Objects.requireNonNullElse(keys, List.of()));
        as = Objects.requireNonNullElse(as, As.ARRAYS);
        dtype = Objects.requireNonNullElse(dtype, "");
        shape = Objects.requireNonNullElse(shape, "");
        exclude = List.copyOf(Objects.requireNonNullElse(exclude, List.of()));
        decimals = Objects.requireNonNullElse(decimals, "");
        if (packBelowBytes < PACK_AUTO) {
            throw new IllegalArgumentException("packBelowBytes=" + packBelowBytes);
        }
    }

    /** Creates options that exclude nothing and load all rows. */
    public LoadOptions(
            List<String> keys,
            As as,
            String dtype,
            String shape,
            long packBelowBytes,
            boolean strict,
            boolean inPlace,
            boolean evenIfUnchanged) {
        this(keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, List.of(), null, "");
    }

    /** Returns these options, excluding the files and folders that match one of these patterns. */
    public LoadOptions withExclude(List<String> patterns) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, patterns, shard, decimals);
    }

    /** Returns these options for one shard of the rows, or for all if it is null. */
    public LoadOptions withShard(@Nullable ShardRows newValue) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, newValue, decimals);
    }

    /** Returns these options with decimals as doubles if it is {@code f8}, or as integers if it is empty. */
    public LoadOptions withDecimals(String newValue) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, shard, newValue);
    }

    /** Returns the default options. */
    public static LoadOptions none() {
        return new LoadOptions(List.of(), As.ARRAYS, "", "", PACK_AUTO, false, false, false, List.of(), null, "");
    }

    /** Returns these options with these keys. */
    public LoadOptions withKeys(List<String> newValue) {
        return new LoadOptions(
                newValue, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, shard, decimals);
    }

    /** Returns these options for raw binary files of this element type and shape. */
    public LoadOptions withElements(String newDtype, String newShape) {
        return new LoadOptions(
                keys, as, newDtype, newShape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, shard, decimals);
    }

    /** Returns these options with this form of the result. */
    public LoadOptions withAs(As newValue) {
        return new LoadOptions(
                keys, newValue, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, shard, decimals);
    }

    /** Returns these options with sources compared by every byte, or not. */
    public LoadOptions withStrict(boolean newValue) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, newValue, inPlace, evenIfUnchanged, exclude, shard, decimals);
    }

    /** Returns these options with files mapped in place, or not. */
    public LoadOptions withInPlace(boolean newValue) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, strict, newValue, evenIfUnchanged, exclude, shard, decimals);
    }

    /** Returns these options with unchanged sources read again, or not. */
    public LoadOptions withEvenIfUnchanged(boolean newValue) {
        return new LoadOptions(keys, as, dtype, shape, packBelowBytes, strict, inPlace, newValue, exclude, shard, decimals);
    }

    /** Returns whether the same sources give the same version with both options. The comparison of sources does not affect that. */
    public boolean givesSameAs(LoadOptions other) {
        return Set.copyOf(keys).equals(Set.copyOf(other.keys))
                && withKeys(List.of())
                        .withStrict(false)
                        .withEvenIfUnchanged(false)
                        .equals(other.withKeys(List.of()).withStrict(false).withEvenIfUnchanged(false));
    }

    /** Returns these options with arrays below this length packed. */
    public LoadOptions withPackBelowBytes(long newValue) {
        return new LoadOptions(keys, as, dtype, shape, newValue, strict, inPlace, evenIfUnchanged, exclude, shard, decimals);
    }
}
