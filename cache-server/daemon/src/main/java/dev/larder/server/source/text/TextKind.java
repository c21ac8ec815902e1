package dev.larder.server.source.text;

import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Refusal;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The kinds of text files that columns are made of, recognised by the end of their names; each may be gzipped. */
public enum TextKind {
    TSV(".tsv"),
    CSV(".csv"),
    JSON_LINES(".jsonl"),
    NDJSON(".ndjson"),
    LINES(".txt");

    /** The suffixes of text files, for people. */
    public static final String ALL = ".tsv, .csv, .jsonl, .ndjson, .txt, each also with .gz";

    /** The remedy for JSON that is not lines. */
    public static final String AS_LINES = "write one JSON object a line, in a file named .jsonl";

    private static final String GZIP = ".gz";

    private final String suffix;

    TextKind(String suffix) {
        this.suffix = suffix;
    }

    /** Returns the kind of a file by its name; null if it has none. */
    public static @Nullable TextKind of(String fileName) {
        String plain = withoutGzip(fileName).toLowerCase(Locale.ROOT);
        for (TextKind kind : values()) {
            if (plain.endsWith(kind.suffix)) {
                return kind;
            }
        }
        return null;
    }

    /** Returns the stored names of the columns that the options name. */
    public List<String> columns(List<String> named) {
        return this == CSV || this == TSV
                ? named.stream().map(name -> ColumnArrays.cleanName(name, name)).toList()
                : named;
    }

    /** Refuses a file of no kind. */
    public static TextKind require(@Nullable TextKind kind, Path file) {
        if (kind == null) {
            throw Refusal.unfit(
                    file,
                    "its name has no known suffix of a text file (" + ALL + ")",
                    isJson(String.valueOf(file.getFileName()))
                            ? AS_LINES
                            : "load it without --as, or rename it if it is text");
        }
        return kind;
    }

    /** Returns whether a name is that of a file with JSON that is not lines. */
    public static boolean isJson(String fileName) {
        return withoutGzip(fileName).toLowerCase(Locale.ROOT).endsWith(".json");
    }

    /** Returns the name without the suffix of its kind. */
    public static String stem(String fileName) {
        String plain = withoutGzip(fileName);
        return plain.substring(0, plain.lastIndexOf('.'));
    }

    private static String withoutGzip(String fileName) {
        return isGzip(fileName) ? fileName.substring(0, fileName.length() - GZIP.length()) : fileName;
    }

    static boolean isGzip(String fileName) {
        return fileName.toLowerCase(Locale.ROOT).endsWith(GZIP);
    }
}
