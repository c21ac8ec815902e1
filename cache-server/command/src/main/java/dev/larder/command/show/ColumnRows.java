package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.BytesColumn;
import dev.larder.client.Column;
import dev.larder.client.Dataset;
import dev.larder.client.IndexColumn;
import dev.larder.client.RaggedColumn;
import dev.larder.client.StringsColumn;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.source.formats.ImageFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;

/** Formats the rows of a column: texts, arrays, files or keys. */
public sealed interface ColumnRows extends ShownRows {
    /** The characters of a text that a line shows. */
    int MOST_CHARACTERS = 200;

    /** The bytes of a file that a line shows. */
    int MOST_BYTES = 16;

    /** Returns the rows of a column; for an index, its keys in insertion order. */
    static ColumnRows of(Dataset dataset, Column column) {
        return switch (column.kind()) {
            case STRINGS -> new Strings(column, dataset.strings(column.name()));
            case RAGGED -> new Ragged(column, dataset.ragged(column.name()));
            case INDEX -> new Keys(column, dataset.index(column.name()));
            case BYTES ->
                new Files(
                        column,
                        dataset.bytes(column.name()),
                        dataset.columns().contains(new Column(column.name() + "/names", Column.Kind.STRINGS)));
        };
    }

    /** Returns the name and the kind of the column. */
    Column column();

    /** Returns the lines of one row. */
    List<String> lines(long row);

    /** Writes one row as one value. */
    void write(JsonWriter json, long row) throws IOException;

    @Override
    default String head(long first, long end) {
        String dtype = cells().map(cells -> " dtype=" + cells.dtype()).orElse("");
        String rows = column().kind() == Column.Kind.INDEX ? " keys=" : " rows=";
        String shown = end - first == count() ? "" : " shown=" + first + ":" + end;
        return column().name() + " column=" + column().kind().word() + dtype + rows + count() + shown;
    }

    /** Returns the lines of some rows, which begin with the number of the row. */
    @Override
    default Stream<String> lines(long first, long end) {
        int width = Long.toString(Math.max(0, end - 1)).length();
        return LongStream.range(first, end).boxed().flatMap(row -> {
            String number = String.format(Locale.ROOT, "%" + width + "d  ", row);
            String indent = "\n" + " ".repeat(number.length());
            return (number + String.join(indent, lines(row))).lines();
        });
    }

    @Override
    default void write(JsonWriter json, long first, long end) throws IOException {
        json.name("name").value(column().name());
        json.name("column").value(column().kind().word());
        json.name("rows").value(count());
        json.name("firstRow").value(first).name("values").beginArray();
        for (long row = first; row < end; row++) {
            write(json, row);
        }
        json.endArray();
        if (cells().isPresent()) {
            json.name("dtype").jsonValue(cells().orElseThrow().dtype().descrJson());
        }
    }

    @Override
    default Optional<Cells> cells() {
        return Optional.empty();
    }

    /** Texts, as Python writes them. */
    record Strings(Column column, StringsColumn texts) implements ColumnRows {
        @Override
        public long count() {
            return texts.rows();
        }

        @Override
        public List<String> lines(long row) {
            String text = texts.get(row);
            int length = Math.min(MOST_CHARACTERS, text.codePointCount(0, text.length()));
            int end = text.offsetByCodePoints(0, length);
            String rest = end == text.length() ? "" : "... (" + texts.byteSize(row) + " bytes)";
            return List.of(CellTexts.literal(text.substring(0, end)) + rest);
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            json.value(texts.get(row));
        }
    }

    /** Arrays, as numpy prints them, below their shapes. */
    record Ragged(Column column, RaggedColumn arrays) implements ColumnRows {
        @Override
        public long count() {
            return arrays.rows();
        }

        @Override
        public List<String> lines(long row) {
            Cells cells = cells(row);
            String head = "shape=" + Arrays.toString(cells.shape());
            return Stream.concat(Stream.of(head), NumpyText.of(cells, 0, cells.rows()).stream())
                    .toList();
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            Cells cells = cells(row);
            CellJson.rows(json, cells, 0, cells.rows());
        }

        private Cells cells(long row) {
            return new Cells(arrays.values(), arrays.firstElement(row), arrays.shape(row));
        }

        @Override
        public Optional<Cells> cells() {
            return Optional.of(new Cells(arrays.values()));
        }
    }

    /** Keys, each with its row number. */
    record Keys(Column column, IndexColumn index) implements ColumnRows {
        @Override
        public long count() {
            return index.size();
        }

        @Override
        public List<String> lines(long row) {
            String key = index.hasIntegerKeys() ? index.key(row) : CellTexts.literal(index.key(row));
            return List.of(key + " -> " + index.rowOfKey(row));
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            json.beginObject().name("key");
            if (index.hasIntegerKeys()) {
                json.value(index.integerKey(row));
            } else {
                json.value(index.key(row));
            }
            json.name("row").value(index.rowOfKey(row)).endObject();
        }
    }

    /** Files: their first bytes, as a Python literal or in hex, their lengths, and their names if they have any. */
    record Files(Column column, BytesColumn files, boolean isNamed) implements ColumnRows {
        @Override
        public long count() {
            return files.rows();
        }

        @Override
        public List<String> lines(long row) {
            byte[] beginning = beginning(row);
            String name = isNamed ? CellTexts.literal(files.name(row)) + " " : "";
            String rest = beginning.length < files.byteSize(row) ? "..." : "";
            return List.of(name + "bytes=" + files.byteSize(row) + " " + literal(beginning) + rest);
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            json.beginObject();
            if (isNamed) {
                json.name("name").value(files.name(row));
            }
            json.name("bytes").value(files.byteSize(row));
            json.name("beginning").value(HexFormat.of().formatHex(beginning(row)));
            json.endObject();
        }

        /** Writes a row that is an image to a file, unchanged. */
        public void writeImage(long row, Path file) {
            byte[] bytes = new byte[files.row(row).capacity()];
            files.row(row).getBytes(0, bytes);
            if (!ImageFormat.isBeginning(ByteBuffer.wrap(bytes))) {
                throw Failure.of(ErrorCode.BAD_INPUT, "only arrays and files of images can be drawn")
                        .with("column", column.name())
                        .with("row", row)
                        .with("beginning", literal(beginning(row)))
                        .remedy("name the row of an image: --rows N");
            }
            try {
                java.nio.file.Files.write(file, bytes);
            } catch (IOException e) {
                throw Picture.cannotWrite(file, e);
            }
        }

        private static String literal(byte[] bytes) {
            return CellTexts.bytesLiteral(new String(bytes, StandardCharsets.ISO_8859_1));
        }

        private byte[] beginning(long row) {
            DirectBuffer window = files.row(row);
            byte[] bytes = new byte[Math.min(MOST_BYTES, window.capacity())];
            window.getBytes(0, bytes);
            return bytes;
        }
    }
}
