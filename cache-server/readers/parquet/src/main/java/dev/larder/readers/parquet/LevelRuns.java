package dev.larder.readers.parquet;

import java.nio.ByteBuffer;

/** Reads the levels of a page, which Parquet stores as runs of one level and as groups of eight packed levels. */
final class LevelRuns {
    private static final int GROUP = 8;

    private final ByteBuffer bytes;
    private final int end;
    private int position;

    private LevelRuns(ByteBuffer bytes, int from, int end) {
        this.bytes = bytes;
        this.position = from;
        this.end = end;
    }

    /** Takes a run of values that have the same level. */
    @FunctionalInterface
    interface Taker {
        void take(int first, int count, int level);
    }

    /**
     * Visits the levels of this many values.
     *
     * @param bits the length of a packed level, at most 8
     */
    static void forEach(ByteBuffer bytes, int from, int end, int bits, int values, Taker taker) {
        LevelRuns runs = new LevelRuns(bytes, from, end);
        int value = 0;
        while (value < values) {
            long head = runs.varint();
            long count = Math.min(values - value, (head & 1) == 0 ? head >>> 1 : (head >>> 1) * GROUP);
            if (count == 0) {
                throw new IllegalStateException("a run of levels is empty");
            } else if ((head & 1) == 0) {
                taker.take(value, (int) count, runs.next());
            } else {
                runs.packed(value, (int) count, bits, taker);
            }
            value += (int) count;
        }
    }

    private void packed(int first, int count, int bits, Taker taker) {
        for (int i = 0; i < count; i += GROUP) {
            long group = 0;
            for (int part = 0; part < bits; part++) {
                group |= (long) next() << (part * Byte.SIZE);
            }
            for (int j = 0; j < Math.min(GROUP, count - i); j++) {
                taker.take(first + i + j, 1, (int) (group >>> (j * bits)) & ((1 << bits) - 1));
            }
        }
    }

    private int next() {
        if (position == end) {
            throw new IllegalStateException("the levels of a page end too early");
        }
        return bytes.get(position++) & 0xff;
    }

    private long varint() {
        long number = 0;
        for (int shift = 0; shift < Integer.SIZE + GROUP; shift += 7) {
            int next = next();
            number |= (next & 0x7fL) << shift;
            if (next < 0x80) {
                return number;
            }
        }
        throw new IllegalStateException("the length of a run of levels has more than five bytes");
    }
}
