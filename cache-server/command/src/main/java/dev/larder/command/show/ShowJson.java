package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import dev.larder.npy.Dtype;
import dev.larder.npy.StructField;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Writes elements as JSON: numbers as numbers, except for the texts {@code nan}, {@code inf} and {@code -inf}, complex numbers as pairs,
 * structures as objects, raw bytes in hex.
 */
public final class ShowJson {
    private final JsonWriter json;
    private final Cells cells;

    private ShowJson(JsonWriter json, Cells cells) {
        this.json = json;
        this.cells = cells;
    }

    /** Writes some rows as nested lists, or the single value of an array without dimensions. */
    public static void rows(JsonWriter json, Cells cells, long firstRow, long rows) throws IOException {
        long[] shape = cells.shape();
        new ShowJson(json, cells).nested(shape, new long[shape.length], 0, firstRow, rows);
    }

    /** Writes a number, or a text if JSON has no such number. */
    public static void number(JsonWriter json, double value) throws IOException {
        if (Double.isFinite(value)) {
            json.value(value);
        } else {
            json.value(Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf");
        }
    }

    private void nested(long[] shape, long[] index, int axis, long first, long length) throws IOException {
        if (axis == shape.length) {
            element(cells.dtype(), cells.at(index));
            return;
        }
        json.beginArray();
        for (long i = first; i < first + length; i++) {
            index[axis] = i;
            nested(shape, index, axis + 1, 0, axis + 1 < shape.length ? shape[axis + 1] : 0);
        }
        json.endArray();
    }

    private void element(Dtype dtype, byte[] cell) throws IOException {
        switch (dtype.kind()) {
            case BOOL -> json.value(cell[0] != 0);
            case INT, UINT, TIMEDELTA -> json.jsonValue(CellTexts.integer(dtype, cell));
            case FLOAT -> floating(dtype, cell, 0, dtype.itemSize());
            case COMPLEX -> complex(dtype, cell);
            case DATETIME -> json.value(TimeText.of(dtype, Numbers.integerAt(dtype, ByteBuffer.wrap(cell), 0)));
            case BYTES -> json.value(new String(cell, StandardCharsets.ISO_8859_1).replaceAll("\0+$", ""));
            case UNICODE -> json.value(CellTexts.text(dtype, cell));
            case VOID -> json.value(HexFormat.of().formatHex(cell));
            case STRUCT -> struct(dtype, cell);
        }
    }

    private void floating(Dtype dtype, byte[] cell, int offset, int byteSize) throws IOException {
        double value = Numbers.floatAt(byteSize, ByteBuffer.wrap(cell).order(dtype.byteOrder()), offset);
        if (Double.isFinite(value)) {
            FloatDigits digits = FloatDigits.of(value, byteSize);
            json.jsonValue((digits.isNegative() ? "-" : "") + digits.shortest());
        } else {
            number(json, value);
        }
    }

    private void complex(Dtype dtype, byte[] cell) throws IOException {
        int half = dtype.itemSize() / 2;
        json.beginArray();
        floating(dtype, cell, 0, half);
        floating(dtype, cell, half, half);
        json.endArray();
    }

    private void struct(Dtype dtype, byte[] cell) throws IOException {
        json.beginObject();
        for (StructField field : dtype.fields()) {
            json.name(field.name());
            byte[] bytes = Arrays.copyOfRange(cell, field.offset(), field.offset() + field.byteSize());
            part(field, bytes, 0);
        }
        json.endObject();
    }

    private void part(StructField field, byte[] bytes, int axis) throws IOException {
        if (axis == field.subShape().size()) {
            element(field.dtype(), bytes);
            return;
        }
        int count = field.subShape().get(axis);
        int length = count == 0 ? 0 : bytes.length / count;
        json.beginArray();
        for (int i = 0; i < count; i++) {
            part(field, Arrays.copyOfRange(bytes, i * length, (i + 1) * length), axis + 1);
        }
        json.endArray();
    }
}
