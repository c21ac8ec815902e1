package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import dev.larder.npy.StructField;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;

/**
 * Writes elements as JSON: numbers as numbers, except for the texts {@code nan}, {@code inf} and {@code -inf}, complex numbers as pairs,
 * structures as objects, raw bytes in hex.
 */
final class CellJson {
    private CellJson() {}

    /** Writes some rows as nested lists, or the single value of an array without dimensions. */
    static void rows(JsonWriter json, Cells cells, long firstRow, long rows) throws IOException {
        long[] shape = cells.shape();
        nested(json, cells, new long[shape.length], 0, firstRow, rows);
    }

    private static void nested(JsonWriter json, Cells cells, long[] index, int axis, long first, long length)
            throws IOException {
        if (axis == index.length) {
            element(json, cells.at(index));
            return;
        }
        long inner = axis + 1 < index.length ? cells.shape()[axis + 1] : 0;
        json.beginArray();
        for (long i = first; i < first + length; i++) {
            index[axis] = i;
            nested(json, cells, index, axis + 1, 0, inner);
        }
        json.endArray();
    }

    /** Writes a number, or a text if JSON has no such number. */
    static void number(JsonWriter json, double value) throws IOException {
        if (Double.isFinite(value)) {
            json.value(value);
        } else {
            json.value(FloatTexts.word(value));
        }
    }

    private static void element(JsonWriter json, CellValue cell) throws IOException {
        switch (cell.dtype().kind()) {
            case BOOL -> json.value(cell.integer() != 0);
            case INT, UINT, TIMEDELTA -> json.jsonValue(cell.digits());
            case FLOAT -> floating(json, cell);
            case COMPLEX -> {
                json.beginArray();
                floating(json, cell.real());
                floating(json, cell.imaginary());
                json.endArray();
            }
            case DATETIME -> json.value(cell.date());
            case BYTES, UNICODE -> json.value(cell.text());
            case VOID -> json.value(HexFormat.of().formatHex(cell.raw()));
            case STRUCT -> {
                json.beginObject();
                for (StructField field : cell.dtype().fields()) {
                    json.name(field.name());
                    field(json, cell.elements(field).iterator(), field.subShape());
                }
                json.endObject();
            }
        }
    }

    private static void floating(JsonWriter json, CellValue cell) throws IOException {
        double value = cell.number();
        if (Double.isFinite(value)) {
            json.jsonValue(FloatTexts.sign(value)
                    + FloatTexts.shortest(value, cell.dtype().itemSize()));
        } else {
            number(json, value);
        }
    }

    private static void field(JsonWriter json, Iterator<CellValue> elements, List<Integer> shape) throws IOException {
        if (shape.isEmpty()) {
            element(json, elements.next());
            return;
        }
        json.beginArray();
        for (int i = 0; i < shape.get(0); i++) {
            field(json, elements, shape.subList(1, shape.size()));
        }
        json.endArray();
    }
}
