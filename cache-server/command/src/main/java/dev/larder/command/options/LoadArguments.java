package dev.larder.command.options;

import dev.larder.command.output.Units;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Retention;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that {@code load} and {@code serve --load} share. */
public final class LoadArguments {
    @Option(
            names = {"--columns", "--keys"},
            paramLabel = "NAME",
            split = ",",
            description = {
                "Of Arrow files, archives, .npz, .safetensors, tables and texts, load only these columns, as in --columns image,label;",
                "levels of names count too: train/label is that column of one split, train the whole split;",
                "from a folder of arrays, only files whose names end in _NAME, or are NAME if none end so."
            })
    List<String> keys = List.of();

    @Option(
            names = "--exclude",
            paramLabel = "GLOB",
            description = "From a folder, leave out files and folders whose name, or path within it, matches, as in"
                    + " --exclude '*.tmp'. May be given several times.")
    List<String> exclude = List.of();

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "auto",
            converter = WorkersConverter.class,
            description = "Threads that read and copy; auto or -1: one for each processor (the default).")
    int workers;

    @Option(
            names = "--as",
            paramLabel = "KIND",
            defaultValue = "arrays",
            converter = AsConverter.class,
            completionCandidates = AsConverter.Words.class,
            description = {
                "How files are loaded: arrays (the default);",
                "ragged: .npy files SCENE_KEY are the rows of one column for each KEY of --columns, else all of one column;",
                "strings: .tsv, .csv, .jsonl and .txt files are columns of strings;",
                "index: their first column, or those of --columns, maps to row numbers;",
                "bytes: any files are the rows of one column of raw bytes;",
                "images: JPEG, PNG and other image files, as they are, with path and label, the number of their folder."
            })
    LoadOptions.As as;

    @Option(
            names = "--strict",
            description = "Compare every byte of the sources to find changes, not only size, times, inode and samples.")
    boolean strict;

    @Option(
            names = "--in-place",
            description =
                    "Copy nothing: map local files where they are, for data larger than memory. They must not change"
                            + " while they are loaded.")
    boolean inPlace;

    @Option(
            names = "--pack-below",
            paramLabel = "SIZE",
            converter = Units.SizeConverter.class,
            description =
                    "Pack all arrays below this size into shared files; 0: none. Default: below 1m if there are more"
                            + " than 64 of them.")
    @Nullable
    Long packBelowBytes;

    @Option(
            names = "--dtype",
            paramLabel = "D",
            defaultValue = "",
            description =
                    "Element type of raw binary files (uint8, float32, >i2, …); a table becomes one matrix of this type.")
    String dtype;

    @Option(
            names = "--shape",
            paramLabel = "N,M,…",
            defaultValue = "",
            description =
                    "Shape of raw binary files, as in --shape -1,28,28: one number may be -1. Default: one dimension.")
    String shape;

    @Option(
            names = "--decimals",
            paramLabel = "f8",
            defaultValue = "",
            description =
                    "Load decimals as float64, rounded. Default: int64 without the point, with COLUMN.scale digits"
                            + " behind it.")
    String decimals;

    @Mixin
    RetentionOptions retention;

    /** Returns the number of threads that read and copy. */
    public int workers() {
        return workers;
    }

    /** Returns how long to keep the datasets. */
    public Retention retention() {
        return retention.retention();
    }

    /** Refuses options about files if an array comes on standard input. */
    public void requireForArray(String name) {
        List<String> given = new ArrayList<>(keys.isEmpty() ? List.of() : List.of("--columns"));
        if (as != LoadOptions.As.ARRAYS) {
            given.add("--as");
        }
        if (inPlace) {
            given.add("--in-place");
        }
        if (!dtype.isEmpty()) {
            given.add("--dtype");
        }
        if (!shape.isEmpty()) {
            given.add("--shape");
        }
        if (!exclude.isEmpty()) {
            given.add("--exclude");
        }
        if (!decimals.isEmpty()) {
            given.add("--decimals");
        }
        if (!given.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "an array on standard input takes no options")
                    .with("name", name)
                    .with("options", given)
                    .remedy("remove them, or load it from a file");
        }
    }

    /** Returns the request, with a single thread for {@code --debug}. */
    public LoadRequest request(List<LoadRequest.Source> sources, boolean debug, InputStream input) {
        long packBelow = packBelowBytes == null ? LoadOptions.PACK_AUTO : packBelowBytes;
        LoadOptions options = LoadOptions.none()
                .withKeys(keys)
                .withAs(as)
                .withElements(dtype, shape)
                .withPackBelowBytes(packBelow)
                .withStrict(strict)
                .withInPlace(inPlace)
                .withExclude(exclude)
                .withDecimals(decimals);
        return new LoadRequest(StandardInput.expand(sources, input), options, debug ? 1 : workers)
                .withRetention(retention());
    }
}
