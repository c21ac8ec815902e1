package dev.larder.server.source;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The kinds of files that can be read, recognised by the end of their names. */
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

    /** Returns the kind of a file in a folder, or null; bytes without a type are of a kind only if the options name one. */
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

    /** Returns whether the element type has to be, or can be, said by the user. */
    public boolean takesDtype() {
        return this == RAW || this == TABLE;
    }

    /** Returns the name without the suffix of this kind; raw bytes may have any suffix. */
    String stem(String fileName) {
        Matcher matcher = pattern.matcher(fileName);
        if (matcher.matches()) {
            return matcher.group("stem");
        }
        int dot = fileName.lastIndexOf('.');
        return dot > 0 ? fileName.substring(0, dot) : fileName;
    }

    /** Returns how many dimensions the name of an IDX file promises. */
    public int promisedDimensions(String fileName) {
        Matcher matcher = pattern.matcher(fileName);
        if (this != IDX || !matcher.matches()) {
            throw new IllegalArgumentException("kind=" + this + " fileName=" + fileName);
        }
        return Integer.parseInt(matcher.group("dimensions"));
    }
}
