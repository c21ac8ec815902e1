package dev.larder.internal.layout;

/**
 * Specifies the arrays of an index column: a hash table that leads from a text or an integer to a row.
 *
 * <p>Little-endian. The {@code slots} are a power of two of words, 0 where free; linear probing. A place is where the key
 * stands: its record's position divided by {@link #RECORD_ALIGNMENT}, or its number in {@code entries}.
 *
 * <pre>
 *   slot      63          48 47                                         0
 *            +--------------+-------------------------------------------+
 *            | fingerprint  | 1 + place                                 |
 *            +--------------+-------------------------------------------+
 *
 *   record    0                 8        12                   multiple of 8
 *            +-----------------+--------+---------------------+
 *            | row             | length | UTF-8, then zeros   |
 *            +-----------------+--------+---------------------+
 *
 *   entry     0                 8                 16
 *            +-----------------+-----------------+
 *            | key             | row             |
 *            +-----------------+-----------------+
 * </pre>
 *
 * <p>A key's hash is {@link TextHash#of} of a text, {@link #hash(long)} of an integer. Multiplicative hashing (Knuth, The Art
 * of Computer Programming, volume 3, section 6.4) spreads it over the slots; its low bits are the fingerprint.
 */
public final class KeyTableDescriptor {
    public static final long FREE = 0;
    public static final int FINGERPRINT_SHIFT = 48;
    public static final long PLACE_MASK = (1L << FINGERPRINT_SHIFT) - 1;
    public static final int SLOT_SHIFT = 3;

    public static final int RECORD_ROW_OFFSET = 0;
    public static final int RECORD_TEXT_LENGTH_OFFSET = RECORD_ROW_OFFSET + Long.BYTES;
    public static final int RECORD_TEXT_OFFSET = RECORD_TEXT_LENGTH_OFFSET + Integer.BYTES;
    public static final int RECORD_ALIGNMENT_SHIFT = 3;
    public static final int RECORD_ALIGNMENT = 1 << RECORD_ALIGNMENT_SHIFT;

    public static final int ENTRY_KEY_OFFSET = 0;
    public static final int ENTRY_ROW_OFFSET = ENTRY_KEY_OFFSET + Long.BYTES;
    public static final int ENTRY_LENGTH = ENTRY_ROW_OFFSET + Long.BYTES;

    private static final long MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;
    private static final long FINGERPRINT_MASK = 0xffff;
    private static final long MIN_CAPACITY = 2;

    private KeyTableDescriptor() {}

    /** Returns how many slots a table of this many keys has: a third of them at least are free. */
    public static long capacity(long keys) {
        long capacity = MIN_CAPACITY;
        while (2 * capacity < 3 * keys) {
            capacity *= 2;
        }
        return capacity;
    }

    /** Returns whether a table can have this many slots. */
    public static boolean isCapacity(long slots) {
        return slots >= MIN_CAPACITY && Long.bitCount(slots) == 1;
    }

    /** Returns what {@link #firstSlot} needs to know of the capacity. */
    public static int shift(long capacity) {
        return Long.SIZE - Long.numberOfTrailingZeros(capacity);
    }

    /** Returns where probing for a hash begins. */
    public static long firstSlot(long hash, int shift) {
        return (hash * MULTIPLIER) >>> shift;
    }

    /** Returns the 16 bits of a hash that its slot repeats. */
    public static long fingerprint(long hash) {
        return hash & FINGERPRINT_MASK;
    }

    /** Returns what the slot of a key holds. */
    public static long slot(long place, long hash) {
        return (fingerprint(hash) << FINGERPRINT_SHIFT) | (place + 1);
    }

    /** Returns the place in a slot that is not free. */
    public static long place(long slot) {
        return (slot & PLACE_MASK) - 1;
    }

    /** Returns the hash of an integer key. */
    public static long hash(long key) {
        return key ^ (key >>> 32);
    }

    /** Returns how long the record of a text of so many bytes is. */
    public static long recordLength(int textBytes) {
        return (RECORD_TEXT_OFFSET + (long) textBytes + RECORD_ALIGNMENT - 1) & -RECORD_ALIGNMENT;
    }
}
