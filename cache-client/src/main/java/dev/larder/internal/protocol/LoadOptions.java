package dev.larder.internal.protocol;

import dev.larder.internal.layout.ShardRows;
import dev.larder.message.OptionalField;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How sources are read and kept; recorded with what they gave, so that it can be loaded again in the same way.
 *
 * @param keys only arrays that match one of these are loaded; empty means all
 * @param as what becomes of them
 * @param dtype the element type of raw binary files, in numpy's words; empty where files say it themselves
 * @param shape the shape of raw binary files, as in {@code 100,28,28}; one number may be -1; empty where files say it themselves
 * @param packBelowBytes smaller arrays share segments; 0 never, {@link #PACK_AUTO} as the store does by itself
 * @param strict whether sources are compared by a hash of every byte
 * @param inPlace whether files are mapped where they lie instead of being copied
 * @param evenIfUnchanged whether to read sources again that look as they did
 * @param exclude patterns of files and folders to leave out, as of a shell
 * @param shard which rows of each array are loaded; null for all
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
        @OptionalField @Nullable ShardRows shard) {
    /** Lets the store decide what is packed. */
    public static final long PACK_AUTO = -1;

    /** What becomes of the files of a source. */
    public enum As {
        /** Each array of a file is an array of the dataset. */
        ARRAYS,
        /** The files of a key are the rows of one column. */
        RAGGED,
        /** The lines of a text file are the rows of columns of texts. */
        STRINGS,
        /** The keys in a text file lead to the numbers of their lines. */
        INDEX,
        /** Any file is a row of raw bytes. */
        BYTES,
        /** Image files are rows of raw bytes, and the folders that they are in their classes. */
        IMAGES
    }

    /** Copies the lists, and replaces absent values by their defaults, as in records of earlier releases. */
    public LoadOptions {
        keys = List.copyOf(Objects.requireNonNullElse(keys, List.of()));
        as = Objects.requireNonNullElse(as, As.ARRAYS);
        dtype = Objects.requireNonNullElse(dtype, "");
        shape = Objects.requireNonNullElse(shape, "");
        exclude = List.copyOf(Objects.requireNonNullElse(exclude, List.of()));
        if (packBelowBytes < PACK_AUTO) {
            throw new IllegalArgumentException("packBelowBytes=" + packBelowBytes);
        }
    }

    /** Leaves nothing out. */
    public LoadOptions(
            List<String> keys,
            As as,
            String dtype,
            String shape,
            long packBelowBytes,
            boolean strict,
            boolean inPlace,
            boolean evenIfUnchanged) {
        this(keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, List.of(), null);
    }

    /** Returns the same, without the files and folders that match one of these patterns. */
    public LoadOptions withExclude(List<String> patterns) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, patterns, shard);
    }

    /** Returns the same, for some rows of each array, or all. */
    public LoadOptions withShard(@Nullable ShardRows wanted) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, wanted);
    }

    /** Returns what holds where nothing is said. */
    public static LoadOptions none() {
        return new LoadOptions(List.of(), As.ARRAYS, "", "", PACK_AUTO, false, false, false, List.of(), null);
    }

    /** Returns the same, for only some keys. */
    public LoadOptions withKeys(List<String> wanted) {
        return new LoadOptions(
                wanted, as, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, shard);
    }

    /** Returns the same, for files that do not say what their bytes are. */
    public LoadOptions withElements(String wantedDtype, String wantedShape) {
        return new LoadOptions(
                keys, as, wantedDtype, wantedShape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, shard);
    }

    /** Returns the same, made into something else. */
    public LoadOptions withAs(As wanted) {
        return new LoadOptions(
                keys, wanted, dtype, shape, packBelowBytes, strict, inPlace, evenIfUnchanged, exclude, shard);
    }

    /** Returns the same, with sources compared by every byte, or not. */
    public LoadOptions withStrict(boolean wanted) {
        return new LoadOptions(
                keys, as, dtype, shape, packBelowBytes, wanted, inPlace, evenIfUnchanged, exclude, shard);
    }

    /** Returns the same, with files mapped where they lie, or not. */
    public LoadOptions withInPlace(boolean wanted) {
        return new LoadOptions(keys, as, dtype, shape, packBelowBytes, strict, wanted, evenIfUnchanged, exclude, shard);
    }

    /** Returns the same, with sources read again that look as they did, or not. */
    public LoadOptions withEvenIfUnchanged(boolean wanted) {
        return new LoadOptions(keys, as, dtype, shape, packBelowBytes, strict, inPlace, wanted, exclude, shard);
    }

    /** Tells whether the same sources give the same version with both; how sources are compared does not matter for that. */
    public boolean givesSameAs(LoadOptions other) {
        return Set.copyOf(keys).equals(Set.copyOf(other.keys))
                && withKeys(List.of())
                        .withStrict(false)
                        .withEvenIfUnchanged(false)
                        .equals(other.withKeys(List.of()).withStrict(false).withEvenIfUnchanged(false));
    }

    /** Returns the same, with arrays below this length packed. */
    public LoadOptions withPackBelowBytes(long wanted) {
        return new LoadOptions(keys, as, dtype, shape, wanted, strict, inPlace, evenIfUnchanged, exclude, shard);
    }
}
