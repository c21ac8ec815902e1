package dev.larder.server.source.text;

import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPInputStream;

/**
 * A text file to make columns of.
 *
 * @param path the file
 * @param kind its kind, by its name
 * @param isCancelled asked while it is read
 */
public record TextFile(Path path, TextKind kind, BooleanSupplier isCancelled) {
    private static final int UNPACK_BYTES = 64 << 10;
    private static final String LINE = "line";

    /** Reads all of it into a sink. */
    public void read(CellSink sink) {
        try (InputStream in = Files.newInputStream(path);
                InputStream text = TextKind.isGzip(path.toString()) ? new GZIPInputStream(in, UNPACK_BYTES) : in) {
            switch (kind) {
                case TSV -> new TableRows(path, CellReader.ofRows(path, text, '\t', isCancelled), sink).read();
                case CSV -> new TableRows(path, CellReader.ofRows(path, text, ',', isCancelled), sink).read();
                case JSON_LINES, NDJSON -> new JsonLines(path, lines(text), sink).read();
                case LINES -> readLines(lines(text), sink);
            }
        } catch (IOException e) {
            throw Refusal.unreadable(path, 0, e);
        }
    }

    private CellReader lines(InputStream text) {
        return CellReader.ofLines(path, text, isCancelled);
    }

    private static void readLines(CellReader lines, CellSink sink) throws IOException {
        int column = sink.column(LINE, lines.cell());
        while (lines.next()) {
            if (column >= 0) {
                sink.add(column, lines.cell());
            }
            sink.endRow(lines.cell());
        }
    }
}
