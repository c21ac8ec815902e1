package dev.larder.command.show;

import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * All elements of an array of numbers, read with all processors. Elements of one or two bytes are read once and counted, and then each
 * of their values is visited once.
 */
final class Elements {
    private static final int BLOCK = 256; // short, so that sums are exact to the last digits

    private static final int MOST_PARTS = 32; // each has half a megabyte

    private final Cells cells;
    private final LongConsumer onBytes;
    private final @Nullable Block counted;

    /** @param onBytes receives the number of bytes after every step, from one thread at a time */
    Elements(Cells cells, LongConsumer onBytes) {
        this.cells = cells;
        this.onBytes = onBytes;
        this.counted = areCounted(cells.dtype()) ? counted() : null;
    }

    /** Returns whether elements are read only once. */
    static boolean areCounted(Dtype dtype) {
        return dtype.itemSize() <= Short.BYTES;
    }

    /** Some elements, each with the number of times that it occurs. */
    static final class Block {
        final double[] values;

        /** The exact values of integers and booleans. Unsigned ones are less by 2 to the 63, so that they compare as signed ones. */
        final long[] integers;

        final long[] times;
        int length;

        Block(int capacity) {
            values = new double[capacity];
            integers = new long[capacity];
            times = new long[capacity];
            Arrays.fill(times, 1);
        }
    }

    /** Collects the elements; the parts are combined in one order, so that the number of processors does not change the result. */
    <T> T collect(Supplier<T> start, BiConsumer<T, Block> add, BiConsumer<T, T> combine) {
        T all = start.get();
        if (counted != null) {
            add.accept(all, counted);
        } else {
            LongStream.range(0, cells.windows())
                    .parallel()
                    .mapToObj(window -> collected(window, start.get(), add))
                    .toList()
                    .forEach(part -> combine.accept(all, part));
        }
        return all;
    }

    private <T> T collected(long window, T part, BiConsumer<T, Block> add) {
        Dtype dtype = cells.dtype();
        ByteBuffer bytes = read(window);
        Block block = new Block(BLOCK);
        int elements = bytes.capacity() / dtype.itemSize();
        for (int from = 0; from < elements; from += BLOCK) {
            block.length = Math.min(BLOCK, elements - from);
            Numbers.read(dtype, bytes, from, block);
            add.accept(part, block);
        }
        return part;
    }

    private ByteBuffer read(long window) {
        ByteBuffer bytes = cells.window(window);
        synchronized (onBytes) {
            onBytes.accept(bytes.capacity());
        }
        return bytes;
    }

    private Block counted() {
        Dtype dtype = cells.dtype();
        boolean isByte = dtype.itemSize() == Byte.BYTES;
        int parts = (int) Math.min(cells.windows(), MOST_PARTS);
        long[] counts = LongStream.range(0, parts)
                .parallel()
                .mapToObj(part -> counts(part, parts))
                .reduce((all, part) -> {
                    Arrays.setAll(all, code -> all[code] + part[code]);
                    return all;
                })
                .orElseGet(this::noCounts);
        Block block = new Block(counts.length);
        ByteBuffer codes = ByteBuffer.allocate(counts.length * dtype.itemSize()).order(dtype.byteOrder());
        for (int code = 0; code < counts.length; code++) {
            if (counts[code] > 0) {
                block.times[block.length++] = counts[code];
                codes = isByte ? codes.put((byte) code) : codes.putShort((short) code);
            }
        }
        Numbers.read(dtype, codes, 0, block);
        return block;
    }

    private long[] noCounts() {
        return new long[1 << (Byte.SIZE * cells.dtype().itemSize())];
    }

    /** Counts the values in the windows {@code part}, {@code part + parts}, {@code part + 2 * parts} and so on. */
    private long[] counts(long part, int parts) {
        long[] counts = noCounts();
        for (long window = part; window < cells.windows(); window += parts) {
            count(read(window), cells.dtype().itemSize() == Byte.BYTES, counts);
        }
        return counts;
    }

    private static void count(ByteBuffer bytes, boolean areBytes, long[] counts) {
        if (areBytes) {
            for (int i = 0; i < bytes.capacity(); i++) {
                counts[bytes.get(i) & 0xff]++;
            }
        } else {
            for (int i = 0; i < bytes.capacity(); i += Short.BYTES) {
                counts[bytes.getShort(i) & 0xffff]++;
            }
        }
    }
}
