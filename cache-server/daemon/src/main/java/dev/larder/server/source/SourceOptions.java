package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.Names;
import dev.larder.protocol.LoadOptions;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * Says which files of a source are meant.
 *
 * @param keys keep exactly the files whose stem ends in {@code _} and one of these; empty keeps all
 * @param as what becomes of them
 * @param dtype the element type of raw binary files; empty where there are none
 * @param shape the shape of raw binary files; empty where there are none
 */
public record SourceOptions(List<String> keys, LoadOptions.As as, String dtype, String shape) {
    /** Checks the keys and drops repeated ones. */
    public SourceOptions {
        keys = List.copyOf(new LinkedHashSet<>(keys));
        for (String key : keys) {
            if (key.contains("/") || Names.arrayObjection(key) != null) {
                throw Failure.of(ErrorCode.USAGE, "bad key")
                        .with("key", Names.printable(key))
                        .remedy("give --keys the last parts of file names, as in --keys rgb,depth");
            }
        }
    }

    /** Keeps the files of some keys, as plain arrays. */
    public SourceOptions(List<String> keys) {
        this(keys, LoadOptions.As.ARRAYS, "", "");
    }

    /** Returns what of a load's options matters for its sources. */
    public static SourceOptions of(LoadOptions options) {
        return new SourceOptions(options.keys(), options.as(), options.dtype(), options.shape());
    }

    /** Returns the same, made into something else. */
    SourceOptions withAs(LoadOptions.As wanted) {
        return new SourceOptions(keys, wanted, dtype, shape);
    }

    /** Returns the options that keep every file of a known kind. */
    public static SourceOptions none() {
        return new SourceOptions(List.of());
    }
}
