package dev.larder.server.source;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** The kinds of text files that columns are made of, recognised by the end of their names; each may be gzipped. */
enum TextKind {
    TSV(".tsv"),
    CSV(".csv"),
    JSON_LINES(".jsonl"),
    NDJSON(".ndjson"),
    LINES(".txt");

    /** What to name when a file is of no known kind. */
    static final String ALL = ".tsv, .csv, .jsonl, .ndjson, .txt, each also with .gz";

    private static final String GZIP = ".gz";
    private static final int UNPACK_BYTES = 64 << 10;

    private final String suffix;

    TextKind(String suffix) {
        this.suffix = suffix;
    }

    static @Nullable TextKind of(String fileName) {
        String plain = withoutGzip(fileName).toLowerCase(Locale.ROOT);
        for (TextKind kind : values()) {
            if (plain.endsWith(kind.suffix)) {
                return kind;
            }
        }
        return null;
    }

    static TextKind require(@Nullable TextKind kind, Path file) {
        if (kind == null) {
            throw Refusal.of(file, 0, "its name is of no known kind of text file (" + ALL + ")");
        }
        return kind;
    }

    /** Returns the name without the suffix of its kind. */
    static String stem(String fileName) {
        String plain = withoutGzip(fileName);
        return plain.substring(0, plain.lastIndexOf('.'));
    }

    private static String withoutGzip(String fileName) {
        return isGzip(fileName) ? fileName.substring(0, fileName.length() - GZIP.length()) : fileName;
    }

    private static boolean isGzip(String fileName) {
        return fileName.toLowerCase(Locale.ROOT).endsWith(GZIP);
    }

    /** Reads a whole file into a sink. */
    void read(Path file, CellSink sink) {
        try (InputStream in = Files.newInputStream(file);
                InputStream unpacked = isGzip(file.toString()) ? new GZIPInputStream(in, UNPACK_BYTES) : in;
                Reader reader = new InputStreamReader(unpacked, StandardCharsets.UTF_8.newDecoder())) {
            switch (this) {
                case TSV -> new DelimitedText(file, '\t').read(reader, sink);
                case CSV -> new DelimitedText(file, ',').read(reader, sink);
                case JSON_LINES, NDJSON -> new JsonLines(file).read(reader, sink);
                case LINES -> readLines(file, reader, sink);
            }
        } catch (CharacterCodingException e) {
            throw Refusal.of(file, 0, "it is no text in UTF-8");
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }

    /** Makes a column {@code line} of the lines. */
    private static void readLines(Path file, Reader reader, CellSink sink) throws IOException {
        String column = "line";
        sink.column(column);
        LineReader lines = new LineReader(file, reader);
        for (String line = lines.next(); line != null; line = lines.next()) {
            sink.cell(column, line, Integers.isCanonical(line));
            sink.endRow();
        }
    }
}
