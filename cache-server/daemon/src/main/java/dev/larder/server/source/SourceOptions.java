package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.reader.ReadRequest;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The options for the sources of a load.
 *
 * @param keys the wanted columns, by their names or levels of those, or the ends of file names behind {@code _} in a folder of arrays; empty for all
 * @param dtype the element type of raw binary files, or of tables that become one matrix; empty if files contain it
 * @param shape the shape of raw binary files; empty for one dimension
 * @param exclusion the files and folders of a folder to leave out
 * @param decimals {@link #DOUBLES} if decimals become the nearest doubles; else they become integers without the point
 */
public record SourceOptions(
        List<String> keys, LoadOptions.As as, String dtype, String shape, Exclusion exclusion, String decimals) {
    /** The word for decimals as doubles. */
    private static final String DOUBLES = ReadRequest.DOUBLES;

    /** Checks them, and drops repeated keys. */
    public SourceOptions {
        WantedType.require(dtype, shape);
        if (!decimals.isEmpty() && !decimals.equals(DOUBLES)) {
            throw Failure.of(ErrorCode.USAGE, "bad type for decimals")
                    .with("decimals", Names.printable(decimals))
                    .remedy("give --decimals " + DOUBLES + ", or load decimals as integers without the option");
        }
        keys = List.copyOf(new LinkedHashSet<>(keys));
        for (String key : keys) {
            if (Names.arrayObjection(key) != null) {
                throw Failure.of(ErrorCode.USAGE, "bad key")
                        .with("key", Names.printable(key))
                        .remedy(
                                "name columns with letters, digits and + . _ - =, levels with /, as in --columns rgb,train/label");
            }
        }
    }

    /** Keeps the files of some keys, as plain arrays. */
    public SourceOptions(List<String> keys) {
        this(keys, LoadOptions.As.ARRAYS, "", "");
    }

    /** Leaves nothing out. */
    public SourceOptions(List<String> keys, LoadOptions.As as, String dtype, String shape) {
        this(keys, as, dtype, shape, Exclusion.of(List.of()), "");
    }

    /** Returns the options for the sources. */
    public static SourceOptions of(LoadOptions options) {
        return new SourceOptions(
                options.keys(),
                options.as(),
                options.dtype(),
                options.shape(),
                Exclusion.of(options.exclude()),
                options.decimals());
    }

    /** Returns the same for other columns. */
    public SourceOptions withKeys(List<String> wanted) {
        return new SourceOptions(wanted, as, dtype, shape, exclusion, decimals);
    }

    /** Returns the same, made into something else. */
    public SourceOptions withAs(LoadOptions.As wanted) {
        return new SourceOptions(keys, wanted, dtype, shape, exclusion, decimals);
    }

    /** Returns the options that keep every file of a known kind. */
    public static SourceOptions none() {
        return new SourceOptions(List.of());
    }
}
