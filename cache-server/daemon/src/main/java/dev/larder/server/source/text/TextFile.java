package dev.larder.server.source.text;

import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPInputStream;

/** A text file whose cells become columns. */
public final class TextFile {
    private static final int UNPACK_BYTES = 64 << 10;
    private static final String LINE = "line";

    private final Path path;
    private final TextKind kind;
    private final BooleanSupplier isCancelled;

    /**
     * Describes a file. Its name decides on its kind.
     *
     * @param isCancelled returns whether to stop reading
     */
    public TextFile(Path path, BooleanSupplier isCancelled) {
        this.path = path;
        this.kind = TextKind.require(TextKind.of(String.valueOf(path.getFileName())), path);
        this.isCancelled = isCancelled;
    }

    public Path path() {
        return path;
    }

    public TextKind kind() {
        return kind;
    }

    /** Reads the whole file into a sink. */
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
