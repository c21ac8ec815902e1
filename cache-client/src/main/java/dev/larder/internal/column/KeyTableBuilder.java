package dev.larder.internal.column;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.KeyTableDescriptor;
import java.util.function.LongPredicate;

/** Builds the hash table of an index. The number of keys is known at the start, so the table never grows. */
final class KeyTableBuilder implements AutoCloseable {
    private final ColumnMemory memory;
    private NativeBytes slots;
    private long mask;
    private int shift;

    KeyTableBuilder(ColumnMemory memory) {
        this.memory = memory;
        this.slots = new NativeBytes(memory);
    }

    static void requireRow(long row) {
        if (row < 0) {
            throw new IllegalArgumentException("row=" + row);
        }
    }

    boolean isEmpty() {
        return slots.byteSize() == 0;
    }

    void allocate(long keys) {
        long capacity = KeyTableDescriptor.capacity(keys);
        slots = NativeBytes.zeros(memory, capacity << KeyTableDescriptor.SLOT_SHIFT);
        mask = capacity - 1;
        shift = KeyTableDescriptor.shift(capacity);
    }

    /** Adds a key. Returns false if the table already has it; {@code isSame} compares the key with the key at a position. */
    boolean insert(long hash, long place, LongPredicate isSame) {
        long slot = KeyTableDescriptor.firstSlot(hash, shift);
        while (true) {
            long at = slot << KeyTableDescriptor.SLOT_SHIFT;
            long found = slots.longAt(at);
            if (found == KeyTableDescriptor.FREE) {
                slots.putLong(at, KeyTableDescriptor.slot(place, hash));
                return true;
            }
            if (found >>> KeyTableDescriptor.FINGERPRINT_SHIFT == KeyTableDescriptor.fingerprint(hash)
                    && isSame.test(KeyTableDescriptor.place(found))) {
                return false;
            }
            slot = (slot + 1) & mask;
        }
    }

    ColumnArray array(String column) {
        return ColumnArray.of(column, ColumnPart.INDEX_SLOTS, "<u8", slots, mask + 1);
    }

    @Override
    public void close() {
        slots.close();
    }
}
