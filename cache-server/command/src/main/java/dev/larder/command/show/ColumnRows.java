package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.ArrayView;
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
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.agrona.DirectBuffer;

/** Formats the rows of a column: texts, arrays, files or keys. */
public sealed interface ColumnRows {
    /** The characters of a text that a line shows. */
    int MOST_CHARACTERS = 200;

    /** The bytes of a file that a line shows. */
    int MOST_BYTES = 16;

    /** Returns the rows of a column; for an index, its keys in insertion order. */
    static ColumnRows of(Dataset dataset, Column column) {
        return switch (column.kind()) {
            case STRINGS -> new Strings(dataset.strings(column.name()));
            case RAGGED -> new Ragged(dataset.ragged(column.name()));
            case INDEX -> new Keys(dataset.index(column.name()));
            case BYTES ->
                new Files(
                        dataset.bytes(column.name()),
                        dataset.columns().contains(new Column(column.name() + "/names", Column.Kind.STRINGS)));
        };
    }

    /** Returns the number of rows. */
    long count();

    /** Returns the lines for one row. */
    List<String> lines(long row);

    /** Writes one row as one value. */
    void write(JsonWriter json, long row) throws IOException;

    /** Returns the elements of all rows, if one array has them. */
    default Optional<ArrayView> elements() {
        return Optional.empty();
    }

    /** Texts, as Python writes them. */
    record Strings(StringsColumn column) implements ColumnRows {
        @Override
        public long count() {
            return column.rows();
        }

        @Override
        public List<String> lines(long row) {
            String text = column.get(row);
            int length = Math.min(MOST_CHARACTERS, text.codePointCount(0, text.length()));
            int end = text.offsetByCodePoints(0, length);
            String rest = end == text.length() ? "" : "... (" + column.byteSize(row) + " bytes)";
            return List.of(CellTexts.literal(text.substring(0, end)) + rest);
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            json.value(column.get(row));
        }
    }

    /** Arrays, as numpy prints them, below their shapes. */
    record Ragged(RaggedColumn column) implements ColumnRows {
        @Override
        public long count() {
            return column.rows();
        }

        @Override
        public List<String> lines(long row) {
            Cells cells = cells(row);
            long[] shape = cells.shape();
            String head = "shape=" + Arrays.toString(shape);
            String values = String.join("\n", NumpyText.of(cells, 0, shape.length == 0 ? 1 : shape[0]));
            return (head + "\n" + values).lines().toList();
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            Cells cells = cells(row);
            long[] shape = cells.shape();
            ShowJson.rows(json, cells, 0, shape.length == 0 ? 1 : shape[0]);
        }

        private Cells cells(long row) {
            return new Cells(column.values(), column.firstElement(row), column.shape(row));
        }

        @Override
        public Optional<ArrayView> elements() {
            return Optional.of(column.values());
        }
    }

    /** Keys, each with its row number. */
    record Keys(IndexColumn column) implements ColumnRows {
        @Override
        public long count() {
            return column.size();
        }

        @Override
        public List<String> lines(long row) {
            String key = column.hasIntegerKeys() ? column.key(row) : CellTexts.literal(column.key(row));
            return List.of(key + " -> " + column.rowOfKey(row));
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            json.beginObject().name("key");
            if (column.hasIntegerKeys()) {
                json.value(column.integerKey(row));
            } else {
                json.value(column.key(row));
            }
            json.name("row").value(column.rowOfKey(row)).endObject();
        }
    }

    /** Files: their first bytes, as a Python literal or in hex, their lengths, and their names if they have any. */
    record Files(BytesColumn column, boolean isNamed) implements ColumnRows {
        @Override
        public long count() {
            return column.rows();
        }

        @Override
        public List<String> lines(long row) {
            byte[] beginning = beginning(row);
            String name = isNamed ? CellTexts.literal(column.name(row)) + " " : "";
            String rest = beginning.length < column.byteSize(row) ? "..." : "";
            return List.of(name + "bytes=" + column.byteSize(row) + " " + CellTexts.literal(beginning) + rest);
        }

        @Override
        public void write(JsonWriter json, long row) throws IOException {
            json.beginObject();
            if (isNamed) {
                json.name("name").value(column.name(row));
            }
            json.name("bytes").value(column.byteSize(row));
            json.name("beginning").value(HexFormat.of().formatHex(beginning(row)));
            json.endObject();
        }

        /** Writes a row that is an image to a file, unchanged. */
        public void writeImage(long row, Path file) {
            byte[] bytes = new byte[column.row(row).capacity()];
            column.row(row).getBytes(0, bytes);
            if (!ImageFormat.isBeginning(ByteBuffer.wrap(bytes))) {
                throw Failure.of(ErrorCode.BAD_INPUT, "only arrays and files of images can be drawn")
                        .with("column", column.name())
                        .with("row", row)
                        .with("beginning", CellTexts.literal(beginning(row)))
                        .remedy("name the row of an image: --rows N");
            }
            try {
                java.nio.file.Files.write(file, bytes);
            } catch (IOException e) {
                throw Picture.cannotWrite(file, e);
            }
        }

        private byte[] beginning(long row) {
            DirectBuffer window = column.row(row);
            byte[] bytes = new byte[Math.min(MOST_BYTES, window.capacity())];
            window.getBytes(0, bytes);
            return bytes;
        }
    }
}
