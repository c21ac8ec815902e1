package dev.larder.internal.layout;

/**
 * Specifies the arrays of an index column: a hash table that maps a text or an integer to a row.
 *
 * <p>Little-endian. The number of {@code slots} is a power of two; a free slot is 0; linear probing. The place of a key is
 * the position of its record divided by {@link #RECORD_ALIGNMENT}, or its number in {@code entries}.
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

    /** Returns the number of slots of a table with this many keys. At least a third of them are free. */
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

    /** Returns the shift for {@link #firstSlot}. */
    public static int shift(long capacity) {
        return Long.SIZE - Long.numberOfTrailingZeros(capacity);
    }

    /** Returns the slot at which probing for a hash begins. */
    public static long firstSlot(long hash, int shift) {
        return (hash * MULTIPLIER) >>> shift;
    }

    /** Returns the 16 bits of a hash that are repeated in its slot. */
    public static long fingerprint(long hash) {
        return hash & FINGERPRINT_MASK;
    }

    /** Returns the slot of a key. */
    public static long slot(long place, long hash) {
        return (fingerprint(hash) << FINGERPRINT_SHIFT) | (place + 1);
    }

    /** Returns the position of a key from its slot, which must not be free. */
    public static long place(long slot) {
        return (slot & PLACE_MASK) - 1;
    }

    /** Returns the hash of an integer key. */
    public static long hash(long key) {
        return key ^ (key >>> 32);
    }

    /** Returns the length of the record of a text with this many bytes. */
    public static long recordLength(int textBytes) {
        return (RECORD_TEXT_OFFSET + (long) textBytes + RECORD_ALIGNMENT - 1) & -RECORD_ALIGNMENT;
    }
}
