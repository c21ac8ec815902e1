package dev.larder.server.source;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The kinds of files that can be read, recognised by the end of their names. */
enum SourceKind {
    NPY("\\.npy"),
    IDX("[-.]idx([0-9]{1,2})-ubyte"),
    IDX_GZIP("[-.]idx([0-9]{1,2})-ubyte\\.gz");

    /** What to name when a file is of no known kind. */
    static final String ALL = ".npy, -idxN-ubyte, -idxN-ubyte.gz";

    private final Pattern pattern;

    SourceKind(String suffix) {
        this.pattern = Pattern.compile("(?<stem>.*)" + suffix, Pattern.DOTALL);
    }

    static @Nullable SourceKind of(String fileName) {
        for (SourceKind kind : values()) {
            if (kind.pattern.matcher(fileName).matches()) {
                return kind;
            }
        }
        return null;
    }

    /** Returns the name without the suffix of this kind. */
    String stem(String fileName) {
        return matched(fileName).group("stem");
    }

    /** Returns how many dimensions the name of an IDX file promises. */
    int promisedDimensions(String fileName) {
        return Integer.parseInt(matched(fileName).group(2));
    }

    private Matcher matched(String fileName) {
        Matcher matcher = pattern.matcher(fileName);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("kind=" + this + " fileName=" + fileName);
        }
        return matcher;
    }
}
