package dev.larder.reader.chunks;

/** Undoes shuffling, which stores all first bytes of elements, or all first bits, before all second ones, so that they pack well. */
public final class Shuffle {
    /** The bits of so many elements are turned together. */
    public static final int TOGETHER = 8;

    private Shuffle() {}

    /** Undoes the shuffling of bytes from the beginning of an array up to a length. Bytes behind the last whole element stay. */
    public static void bytes(byte[] shuffled, int length, int itemBytes, byte[] target, int at) {
        int items = itemBytes <= 0 ? 0 : length / itemBytes;
        int from = 0;
        for (int part = 0; items > 0 && part < itemBytes; part++) {
            int end = at + items * itemBytes;
            for (int to = at + part; to < end; to += itemBytes) {
                target[to] = shuffled[from];
                from++;
            }
        }
        System.arraycopy(shuffled, from, target, at + from, length - from);
    }

    /** Undoes the shuffling of the bits of elements, a multiple of {@link #TOGETHER}. */
    public static void bits(byte[] shuffled, int items, int itemBytes, byte[] target, int at) {
        int planeBytes = items / TOGETHER;
        for (int part = 0; part < itemBytes; part++) {
            for (int group = 0; group < planeBytes; group++) {
                long planes = 0;
                for (int bit = 0; bit < Byte.SIZE; bit++) {
                    long plane = shuffled[(part * Byte.SIZE + bit) * planeBytes + group] & 0xff;
                    planes |= plane << (bit * Byte.SIZE);
                }
                long turned = turn(planes);
                int to = at + group * TOGETHER * itemBytes + part;
                for (int item = 0; item < TOGETHER; item++) {
                    target[to + item * itemBytes] = (byte) (turned >>> (item * Byte.SIZE));
                }
            }
        }
    }

    /** Transposes a matrix of 8 by 8 bits. */
    private static long turn(long matrix) {
        long x = matrix;
        long t = (x ^ (x >>> 7)) & 0x00AA00AA00AA00AAL;
        x = x ^ t ^ (t << 7);
        t = (x ^ (x >>> 14)) & 0x0000CCCC0000CCCCL;
        x = x ^ t ^ (t << 14);
        t = (x ^ (x >>> 28)) & 0x00000000F0F0F0F0L;
        return x ^ t ^ (t << 28);
    }
}
