package dev.larder.readers.zarr;

import dev.larder.reader.BadSource;
import dev.larder.reader.ByteSequence;
import dev.larder.reader.Offer;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The texts of an array, or its bytes of any length. Reads them twice: their lengths decide that of the column. Those of several dimensions are
 * lists of the next one, as in Parquet: {@code NAME.offsets}, and the items {@code NAME.items}.
 */
final class TextChunks {
    private static final byte[] NONE = {};
    private static final int REFERENCE_BYTES = 8;

    private final ArrayMetadata array;
    private final ChunkReader chunks;
    private final ChunkFiles files;
    private final Place place;
    private final long[] shape;
    private final int[] chunk;
    private final int[] strides;
    private final byte[] fill;

    TextChunks(ArrayMetadata array, ChunkFiles files, Place place) {
        this.array = array;
        this.chunks = new ChunkReader(array, files, place);
        this.files = files;
        this.place = place;
        this.shape = array.rowsShape();
        this.chunk = array.rowsChunk();
        this.strides =
                array.shape().length == 0 ? new int[] {1} : array.codecs().strides(1);
        byte @Nullable [] value = array.fill();
        this.fill = value == null ? NONE : value;
    }

    /** Returns the arrays of the column. */
    List<Offer> offers(String name, ReadProgress progress) throws BadSource {
        List<Offer> offers = new ArrayList<>();
        String column = name;
        long items = 1;
        for (int axis = 0; axis < shape.length; axis++) {
            items *= shape[axis];
            if (axis < shape.length - 1) {
                offers.add(Offer.array(column + ".offsets", "<i8", List.of(items + 1)));
                column += ".items";
            }
        }
        long bytes = items == 0 ? 0 : measure(items, progress);
        offers.addAll(
                array.element().equals(Element.TEXTS)
                        ? Offer.strings(column, items, bytes)
                        : Offer.bytes(column, items, bytes));
        return offers;
    }

    /** Returns the bytes of all elements together. */
    private long measure(long items, ReadProgress progress) throws BadSource {
        long bytes = 0;
        long unwritten = items;
        ShardFiles shards = array.shards();
        long[] ofFile = new long[shape.length]; // how many chunks a file has in each dimension
        for (int axis = 0; axis < shape.length; axis++) {
            ofFile[axis] = shards == null || axis == array.shape().length ? 1 : shards.shape()[axis];
        }
        for (String key : files.all().keySet()) {
            long[] file = array.keys().place(key, array.shape().length);
            if (file == null || !isInside(file, ofFile)) {
                continue;
            }
            long[] inFile = new long[shape.length];
            do {
                long[] index = new long[shape.length];
                for (int axis = 0; axis < file.length; axis++) {
                    index[axis] = file[axis] * ofFile[axis] + inFile[axis];
                }
                long[] ends = ends(index);
                PackedTexts texts = hasElements(ends) ? read(index, ends) : null;
                if (texts != null) {
                    long[] at = new long[shape.length];
                    do {
                        bytes += texts.length(element(at));
                        unwritten--;
                    } while (advance(at, ends));
                }
            } while (advance(inFile, ofFile));
            progress.looked(1);
        }
        return Math.addExact(bytes, Math.multiplyExact(unwritten, fill.length));
    }

    private boolean isInside(long[] file, long[] ofFile) {
        for (int axis = 0; axis < file.length; axis++) {
            if (file[axis] > (shape[axis] - 1) / chunk[axis] / ofFile[axis]) {
                return false;
            }
        }
        return true;
    }

    /** Returns how many elements of a chunk are in the array, in each dimension. */
    private long[] ends(long[] index) {
        long[] ends = new long[shape.length];
        for (int axis = 0; axis < shape.length; axis++) {
            ends[axis] = Math.min(chunk[axis], shape[axis] - index[axis] * chunk[axis]);
        }
        return ends;
    }

    private static boolean hasElements(long[] ends) {
        return Arrays.stream(ends).allMatch(end -> end > 0);
    }

    private @Nullable PackedTexts read(long[] index, long[] ends) throws BadSource {
        long[] last = Arrays.stream(ends).map(end -> end - 1).toArray();
        return chunks.readTexts(Arrays.copyOf(index, array.shape().length), element(last) + 1);
    }

    /** Returns the place of an element in its chunk. */
    private int element(long[] at) {
        int element = 0;
        for (int axis = 0; axis < at.length; axis++) {
            element += (int) (at[axis] % chunk[axis]) * strides[axis];
        }
        return element;
    }

    /** Moves to the next place of a box, the last dimension first; returns false at its end. */
    private static boolean advance(long[] at, long[] ends) {
        for (int axis = at.length - 1; axis >= 0; axis--) {
            if (++at[axis] < ends[axis]) {
                return true;
            }
            at[axis] = 0;
        }
        return false;
    }

    /** Writes the offsets of each dimension, then the bytes of all elements and their offsets. */
    void write(Output output, int offer) throws BadSource {
        long items = 1;
        for (int axis = 0; axis < shape.length - 1; axis++) {
            items *= shape[axis];
            ByteSequence offsets = new ByteSequence(output, offer + axis, 0);
            for (long item = 0; item <= items; item++) {
                offsets.putLong(item * shape[axis + 1]);
            }
            offsets.flush();
        }
        int first = offer + shape.length - 1;
        Rows rows = new Rows(new ByteSequence(output, first, 0), new ByteSequence(output, first + 1, 0));
        rows.offsets.putLong(0);
        if (array.hasElements()) {
            for (long row = 0; row < shape[0]; row += chunk[0]) {
                writeChunks(row / chunk[0], rows);
            }
        }
        rows.values.flush();
        rows.offsets.flush();
    }

    /** A column that is written. */
    private static final class Rows {
        final ByteSequence values;
        final ByteSequence offsets;
        private long end;

        Rows(ByteSequence values, ByteSequence offsets) {
            this.values = values;
            this.offsets = offsets;
        }

        void put(byte[] bytes, int from, int length) {
            values.put(bytes, from, length);
            end += length;
            offsets.putLong(end);
        }
    }

    /** Writes the elements of all chunks with one place in the first dimension. */
    private void writeChunks(long number, Rows rows) throws BadSource {
        long[] counts = new long[shape.length];
        long[] ends = shape.clone();
        for (int axis = 0; axis < shape.length; axis++) {
            counts[axis] = axis == 0 ? 1 : (shape[axis] - 1) / chunk[axis] + 1;
        }
        ends[0] = Math.min(chunk[0], shape[0] - number * chunk[0]);
        List<@Nullable PackedTexts> all = readChunks(number, counts);
        long[] at = new long[shape.length];
        do {
            int chunkNumber = 0;
            for (int axis = 0; axis < shape.length; axis++) {
                chunkNumber = chunkNumber * (int) counts[axis] + (int) (at[axis] / chunk[axis]);
            }
            PackedTexts texts = all.get(chunkNumber);
            if (texts == null) {
                rows.put(fill, 0, fill.length);
            } else {
                int element = element(at);
                rows.put(texts.bytes(), texts.starts()[element], texts.length(element));
            }
        } while (advance(at, ends));
    }

    private List<@Nullable PackedTexts> readChunks(long number, long[] counts) throws BadSource {
        List<@Nullable PackedTexts> all = new ArrayList<>();
        long most = ChunkReader.mostTextBytes();
        long bytes = REFERENCE_BYTES;
        for (long count : counts) {
            bytes = Math.min(most + 1, bytes * count);
        }
        requireFit(bytes, most, number);
        long[] at = new long[shape.length];
        do {
            long[] index = at.clone();
            index[0] = number;
            PackedTexts texts = read(index, ends(index));
            all.add(texts);
            bytes += texts == null || all.size() == 1 ? 0 : texts.heapBytes();
            requireFit(bytes, most, number);
        } while (advance(at, counts));
        return all;
    }

    private void requireFit(long bytes, long most, long number) throws BadSource {
        if (bytes > most) {
            throw new BadSource(
                    place.file(),
                    BadSource.NOWHERE,
                    place.array(),
                    "its chunks of rows " + number * chunk[0] + " to " + (number + 1) * chunk[0] + " have more than "
                            + most + " bytes that the reader's heap allows",
                    "restart the daemon with a larger LARDER_READER_HEAP, or store it in chunks of fewer rows");
        }
    }
}
