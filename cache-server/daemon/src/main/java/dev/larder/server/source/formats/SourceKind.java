package dev.larder.server.source.formats;

import dev.larder.server.source.SourceOptions;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The kinds of files of arrays, recognized by the ends of their names. */
public enum SourceKind {
    NPY(".npy, .npy.gz", "\\.npy(\\.gz)?"),
    NPZ(".npz", "\\.npz"),
    SAFETENSORS(".safetensors", "\\.safetensors"),
    IDX("-idxN-ubyte, -idxN-ubyte.gz", "[-.]idx(?<dimensions>[0-9]{1,2})-ubyte(\\.gz)?"),
    TABLE(".csv, .tsv, .csv.gz, .tsv.gz", "\\.(csv|tsv)(\\.gz)?"),
    RAW("with --dtype .bin, .raw, .dat", "\\.(bin|raw|dat)");

    private final String suffixes;
    private final Pattern pattern;

    SourceKind(String suffixes, String suffix) {
        this.suffixes = suffixes;
        this.pattern = Pattern.compile("(?<stem>.*)" + suffix, Pattern.DOTALL | Pattern.CASE_INSENSITIVE);
    }

    /** Returns the ends of the names of this kind, for people. */
    public String suffixes() {
        return suffixes;
    }

    SourceFormat format() {
        return switch (this) {
            case NPY -> new NpyFormat();
            case NPZ -> new NpzFormat();
            case SAFETENSORS -> new SafetensorsFormat();
            case IDX -> new IdxFormat();
            case TABLE -> new TableFormat();
            case RAW -> new RawFormat();
        };
    }

    /** Returns the kind of a file in a folder, or null. Raw bytes have a kind only if the options name their type. */
    public static @Nullable SourceKind of(String fileName, SourceOptions options) {
        for (SourceKind kind : values()) {
            if (kind.pattern.matcher(fileName).matches()) {
                return kind == RAW && options.dtype().isEmpty() ? null : kind;
            }
        }
        return null;
    }

    /** Returns whether a file of this kind has arrays with names of their own. */
    public boolean hasMembers(SourceOptions options) {
        return this == NPZ
                || this == SAFETENSORS
                || (this == TABLE && options.dtype().isEmpty());
    }

    /** Returns whether the options may name the element type. */
    public boolean takesDtype() {
        return this == RAW || this == TABLE;
    }

    /** Returns the name without the suffix of this kind. Raw bytes may have any suffix. */
    String stem(String fileName) {
        Matcher matcher = pattern.matcher(fileName);
        if (matcher.matches()) {
            return matcher.group("stem");
        }
        int dot = fileName.lastIndexOf('.');
        return dot > 0 ? fileName.substring(0, dot) : fileName;
    }

    /** Returns the number of dimensions in the name of an IDX file. */
    int promisedDimensions(String fileName) {
        Matcher matcher = pattern.matcher(fileName);
        if (this != IDX || !matcher.matches()) {
            throw new IllegalArgumentException("kind=" + this + " fileName=" + fileName);
        }
        return Integer.parseInt(matcher.group("dimensions"));
    }
}
