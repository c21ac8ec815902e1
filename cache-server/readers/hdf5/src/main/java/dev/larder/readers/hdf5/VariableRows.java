package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Offer;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.object.datatype.VariableLength;
import java.io.IOException;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A dataset whose rows are texts or lists of numbers of any length. It is read twice, some rows at a time: for its length, then for good. */
final class VariableRows {
    private static final int ROWS_AT_ONCE = 16_384;

    private final DatasetBase dataset;
    private final VariableLength type;
    private final int file;
    private final String name;

    VariableRows(DatasetBase dataset, VariableLength type, int file, String name) {
        this.dataset = dataset;
        this.type = type;
        this.file = file;
        this.name = name;
    }

    private interface Row {
        void take(long row, @Nullable Object value) throws IOException;
    }

    private long rows() throws BadSource {
        int[] dimensions = dataset.getDimensions();
        if (dimensions.length > 1) {
            throw new BadSource(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "it has " + dimensions.length + " dimensions, and a column of texts or lists has one",
                    "");
        }
        return dimensions.length == 0 ? 1 : dimensions[0];
    }

    /** Hands over every row: a String, an array of numbers, or null where it was never written. */
    private void forEach(Row row) throws IOException {
        if (dataset.getDimensions().length == 0) {
            row.take(0, dataset.getData());
            return;
        }
        long rows = rows();
        for (long first = 0; first < rows; first += ROWS_AT_ONCE) {
            int count = (int) Math.min(ROWS_AT_ONCE, rows - first);
            Object some = dataset.getData(new long[] {first}, new int[] {count});
            for (int i = 0; i < count; i++) {
                row.take(first + i, Array.get(some, i));
            }
        }
    }

    /** Returns the arrays of the column. */
    List<Offer> offers(String column, ReadProgress progress) throws IOException {
        long rows = rows();
        long[] sum = new long[1];
        if (type.isVariableLengthString()) {
            forEach((row, value) -> {
                int length = utf8(value).length;
                sum[0] += length;
                progress.looked(length + 1L);
            });
            return Offer.strings(column, rows, sum[0]);
        }
        String dtype = NumpyTypes.of(type.getParent());
        if (dtype == null || "Sbc".indexOf(dtype.charAt(1)) >= 0 || dtype.endsWith("f2")) {
            throw new BadSource(file, BadSource.NOWHERE, name, "its lists are not of numbers", "");
        }
        forEach((row, value) -> {
            int length = value == null ? 0 : Array.getLength(value);
            sum[0] += length;
            progress.looked(length + 1L);
        });
        return Offer.ragged(column, dtype, rows, sum[0]);
    }

    private static byte[] utf8(@Nullable Object text) {
        return text == null ? new byte[0] : text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Writes the arrays, the values first. */
    void write(Output output, int first) throws IOException {
        try {
            ByteSequence offsets = new ByteSequence(output, first + 1, 0);
            offsets.putLong(0);
            long[] sum = new long[1];
            if (type.isVariableLengthString()) {
                forEach((row, value) -> {
                    byte[] text = utf8(value);
                    output.at(first, sum[0], text.length).put(text);
                    sum[0] += text.length;
                    offsets.putLong(sum[0]);
                });
            } else {
                int itemBytes = type.getParent().getSize();
                ByteSequence lengths = new ByteSequence(output, first + 2, 0);
                forEach((row, value) -> {
                    int length = value == null ? 0 : Array.getLength(value);
                    if (value != null) {
                        ByteBuffer target = output.at(first, sum[0] * itemBytes, length * itemBytes);
                        for (int i = 0; i < length; i++) {
                            Numbers.put(target, (Number) Array.get(value, i), type.getParent());
                        }
                    }
                    sum[0] += length;
                    offsets.putLong(sum[0]);
                    lengths.putLong(length);
                });
                lengths.flush();
            }
            offsets.flush();
        } catch (RuntimeException | StackOverflowError e) {
            throw Unreadable.of(file, name, e);
        }
    }
}
