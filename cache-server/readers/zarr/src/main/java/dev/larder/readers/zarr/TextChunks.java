package dev.larder.readers.zarr;

import dev.larder.reader.BadSource;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The texts of an array with one dimension, or its bytes of any length. Reads them twice: their lengths decide that of the column. */
final class TextChunks {
    private static final byte[] NONE = {};

    private final ChunkReader chunks;
    private final long rows;
    private final int chunkRows;
    private final byte[] fill;
    private final Map<Long, Integer> numbers = new TreeMap<>();

    TextChunks(ArrayMetadata array, ChunkFiles files, Place place) {
        this.chunks = new ChunkReader(array, files, place);
        this.rows = array.shape()[0];
        this.chunkRows = array.codecs().chunk()[0];
        byte @Nullable [] value = array.fill();
        this.fill = value == null ? NONE : value;
        files.all().forEach((key, number) -> {
            long chunk = array.keys().place(key);
            if (chunk >= 0 && chunk < (rows + chunkRows - 1) / chunkRows) {
                numbers.put(chunk, number);
            }
        });
    }

    private int count(long chunk) {
        return (int) Math.min(chunkRows, rows - chunk * chunkRows);
    }

    /** Returns the bytes of all rows together. */
    long measure(ReadProgress progress) throws BadSource {
        long[] bytes = new long[1];
        long unwritten = rows;
        for (Map.Entry<Long, Integer> each : numbers.entrySet()) {
            int count = count(each.getKey());
            chunks.visitTexts(each.getValue(), each.getKey(), count, (all, from, length) -> bytes[0] += length);
            unwritten -= count;
            progress.looked(1);
        }
        return Math.addExact(bytes[0], Math.multiplyExact(unwritten, fill.length));
    }

    /** Writes the bytes of all rows, and their offsets to the next offer. */
    void write(Output output, int offer) throws BadSource {
        ByteSequence values = new ByteSequence(output, offer, 0);
        ByteSequence offsets = new ByteSequence(output, offer + 1, 0);
        offsets.putLong(0);
        long[] end = new long[1];
        ChunkReader.TextVisitor writer = (bytes, from, length) -> {
            values.put(bytes, from, length);
            end[0] += length;
            offsets.putLong(end[0]);
        };
        for (long chunk = 0; chunk * chunkRows < rows; chunk++) {
            Integer number = numbers.get(chunk);
            if (number != null) {
                chunks.visitTexts(number, chunk, count(chunk), writer);
            } else {
                for (int i = count(chunk); i > 0; i--) {
                    writer.take(fill, 0, fill.length);
                }
            }
        }
        values.flush();
        offsets.flush();
    }
}
