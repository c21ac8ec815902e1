package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowSchema;
import dev.larder.server.reader.UnpackedFiles;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Extent;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The packed buffers of one file: where they are in it, and where they will be when a reader has unpacked them, one after the other. Each begins
 * with how long it becomes, or with -1 where it is not packed after all. Filled by going through the file once; used by one thread.
 */
final class UnpackedBuffers implements ArrowMessages.Visitor {
    private static final int PREFIX_BYTES = Long.BYTES;
    private static final int FIRST_LENGTH = 64;

    /** What the words for one take of the heap, several times. */
    private static final int WORDS_BYTES = 512;

    private static final int MOST = (int) Math.min(1 << 22, Runtime.getRuntime().maxMemory() / 8 / WORDS_BYTES);

    private final int number;
    private final ArrowFile packed;
    private final FieldChoice choice;
    private final List<String> words;
    private List<ArrowField> fields = List.of();
    private long[] packedOffsets = new long[FIRST_LENGTH];
    private long[] packedEnds = new long[FIRST_LENGTH];
    private long[] byteSizes = new long[FIRST_LENGTH];
    private long[] offsets = new long[FIRST_LENGTH];
    private int count;
    private long byteSum;
    private @Nullable String codec;
    private @Nullable ArrowFile unpacked;

    /**
     * Starts without any.
     *
     * @param number that of the file
     * @param choice says which columns are taken
     * @param words takes what is to be unpacked, as the reader is told of it
     */
    UnpackedBuffers(int number, ArrowFile packed, FieldChoice choice, List<String> words) {
        this.number = number;
        this.packed = packed;
        this.choice = choice;
        this.words = words;
    }

    @Override
    public void schema(ArrowSchema schema) {
        fields = schema.fields();
    }

    @Override
    public void dictionary(long id, boolean isMore, BatchCursor batch) {
        codec = batch.codec();
        if (codec != null) {
            batch.visitAll(this::add);
        }
    }

    @Override
    public void batch(BatchCursor batch) {
        codec = batch.codec();
        if (codec == null) {
            return;
        }
        for (int i = 0; i < fields.size(); i++) {
            String name = ColumnArrays.cleanName(fields.get(i).name(), "column" + i);
            if (choice.takes(name, fields.get(i))) {
                batch.visit(fields.get(i), this::add);
            } else {
                batch.skip(fields.get(i));
            }
        }
    }

    private void add(long offset, long byteSize) {
        if (byteSize == 0) {
            return;
        } else if (byteSize < PREFIX_BYTES) {
            throw packed.refusal("a packed buffer has " + byteSize + " bytes");
        } else if (words.size() == MOST) {
            throw packed.refusal(
                    "it has more than " + MOST + " packed buffers: write it in larger batches, or unpacked");
        }
        long becomes = packed.number(offset, PREFIX_BYTES);
        boolean isPacked = becomes != -1;
        long packedBytes = byteSize - PREFIX_BYTES;
        if (becomes < -1) {
            throw packed.refusal("a packed buffer would become " + becomes + " bytes");
        }
        long bytes = isPacked ? becomes : packedBytes;
        words.add(number + ":" + (isPacked && bytes > 0 ? codec : "none") + ":" + (offset + PREFIX_BYTES) + ":"
                + (bytes > 0 ? packedBytes : 0) + ":" + bytes);
        if (count == offsets.length) {
            int length = Math.addExact(count, count / 2);
            packedOffsets = Arrays.copyOf(packedOffsets, length);
            packedEnds = Arrays.copyOf(packedEnds, length);
            byteSizes = Arrays.copyOf(byteSizes, length);
            offsets = Arrays.copyOf(offsets, length);
        }
        packedOffsets[count] = offset;
        packedEnds[count] = offset + byteSize;
        byteSizes[count] = bytes;
        offsets[count] = byteSum;
        count++;
        byteSum = Math.addExact(byteSum, bytes);
    }

    /** Ends the collection: sorts what was found by its places. */
    void sort() {
        int[] order = IntStream.range(0, count)
                .boxed()
                .sorted((one, other) -> Long.compare(packedOffsets[one], packedOffsets[other]))
                .mapToInt(Integer::intValue)
                .toArray();
        packedOffsets = sorted(packedOffsets, order);
        packedEnds = sorted(packedEnds, order);
        byteSizes = sorted(byteSizes, order);
        offsets = sorted(offsets, order);
        for (int i = 1; i < count; i++) {
            if (packedOffsets[i] < packedEnds[i - 1]) {
                throw packed.refusal("its packed buffers overlap"); // a small file could become anything
            }
        }
    }

    private static long[] sorted(long[] numbers, int[] order) {
        return Arrays.stream(order).mapToLong(index -> numbers[index]).toArray();
    }

    /** Opens what the reader has unpacked. */
    void open(UnpackedFiles files) {
        Extent region = files.region(number);
        if (region.byteSize() != byteSum) {
            throw packed.refusal("its buffers were unpacked to " + region.byteSize() + " of " + byteSum + " bytes");
        }
        for (int i = 0; i < count; i++) {
            offsets[i] += region.offset();
        }
        unpacked = ArrowFile.open(files.file(number), packed.identity().file(), null);
    }

    /** Returns the file with the unpacked buffers, which says of the packed one what is wrong; the packed one where all are empty. */
    ArrowFile file(ArrowFile reading) {
        ArrowFile file = unpacked;
        if (file == null) {
            return reading;
        }
        file.enterAs(reading);
        return file;
    }

    /** Returns which of the buffers begins at a place of the packed file. */
    int find(long packedOffset) {
        int found = Arrays.binarySearch(packedOffsets, 0, count, packedOffset);
        if (found < 0) {
            throw packed.refusal("it has changed while it was read");
        }
        return found;
    }

    /** Returns where a buffer is in {@link #file}. */
    long offset(int buffer) {
        return offsets[buffer];
    }

    /** Returns how long it is there. */
    long byteSize(int buffer) {
        return byteSizes[buffer];
    }

    /** Closes the files that it has opened. */
    void close() {
        ArrowFile file = unpacked;
        if (file != null) {
            file.close();
        }
    }
}
