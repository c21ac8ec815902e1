package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.KeyTableDescriptor;
import dev.larder.internal.posix.RawMemory;
import java.util.Objects;

/** Maps integers to rows. The arrays are untrusted: every position is checked against their length before it is read. */
final class IntegerKeys {
    private final KeyTable slots;
    private final ArrayView entries;
    private final long base;
    private final long size;

    IntegerKeys(KeyTable slots) {
        this.slots = slots;
        this.entries = slots.part(ColumnPart.INDEX_ENTRIES, "<i8", 2);
        this.size = entries.rows();
        this.base = entries.base();
        if (entries.shape()[1] * Long.BYTES != KeyTableDescriptor.ENTRY_LENGTH) {
            throw slots.damaged("entries are not pairs");
        }
    }

    long size() {
        return size;
    }

    long find(long key) {
        long hash = KeyTableDescriptor.hash(key);
        long fingerprint = KeyTableDescriptor.fingerprint(hash);
        long slot = slots.first(hash);
        for (long probes = slots.mask(); probes >= 0; probes--) {
            long found = slots.at(slot);
            if (found == KeyTableDescriptor.FREE) {
                break;
            }
            if (found >>> KeyTableDescriptor.FINGERPRINT_SHIFT == fingerprint) {
                long entry = entry(KeyTableDescriptor.place(found));
                if (RawMemory.getLong(entry + KeyTableDescriptor.ENTRY_KEY_OFFSET) == key) {
                    return rowAt(entry);
                }
            }
            slot = (slot + 1) & slots.mask();
        }
        requireOpen();
        return IndexColumn.ABSENT;
    }

    long key(long k) {
        long key = RawMemory.getLong(entry(Objects.checkIndex(k, size)) + KeyTableDescriptor.ENTRY_KEY_OFFSET);
        requireOpen();
        return key;
    }

    long row(long k) {
        return rowAt(entry(Objects.checkIndex(k, size)));
    }

    private long rowAt(long entry) {
        long row = RawMemory.getLong(entry + KeyTableDescriptor.ENTRY_ROW_OFFSET);
        requireOpen();
        if (row < 0) {
            throw slots.damaged("a key maps to row " + row);
        }
        return row;
    }

    private long entry(long place) {
        if (place < 0 || place >= size) {
            requireOpen();
            throw slots.damaged("a slot points to entry " + place + " of " + size);
        }
        return base + place * KeyTableDescriptor.ENTRY_LENGTH;
    }

    private void requireOpen() {
        entries.requireOpen();
        slots.requireOpen();
    }

    boolean isOpen() {
        return slots.isOpen();
    }
}
