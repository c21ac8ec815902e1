package dev.larder.client;

import static dev.larder.internal.layout.KeyTableDescriptor.RECORD_ROW_OFFSET;
import static dev.larder.internal.layout.KeyTableDescriptor.RECORD_TEXT_LENGTH_OFFSET;
import static dev.larder.internal.layout.KeyTableDescriptor.RECORD_TEXT_OFFSET;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.KeyTableDescriptor;
import dev.larder.internal.layout.TextHash;
import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.view.Targets;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;

/** Maps texts to rows. The arrays are untrusted: every position is checked against their length before it is read. */
final class TextKeys {
    private final KeyTable slots;
    private final ArrayView records;
    private final ArrayView positions;
    private final long base;
    private final long lastRecord;

    TextKeys(KeyTable slots) {
        this.slots = slots;
        this.records = slots.part(ColumnPart.INDEX_RECORDS, "|u1", 1);
        this.positions = slots.part(ColumnPart.INDEX_POSITIONS, "<i8", 1);
        this.base = records.base();
        this.lastRecord = records.byteSize() - RECORD_TEXT_OFFSET;
    }

    long size() {
        return positions.rows();
    }

    long find(String key) {
        long hash = TextHash.of(key);
        long fingerprint = KeyTableDescriptor.fingerprint(hash);
        long slot = slots.first(hash);
        for (long probes = slots.mask(); probes >= 0; probes--) {
            long found = slots.at(slot);
            if (found == KeyTableDescriptor.FREE) {
                break;
            }
            if (found >>> KeyTableDescriptor.FINGERPRINT_SHIFT == fingerprint) {
                long record = record(KeyTableDescriptor.place(found) << KeyTableDescriptor.RECORD_ALIGNMENT_SHIFT);
                if (StoredText.equals(record + RECORD_TEXT_OFFSET, textLength(record), key)) {
                    return rowAt(record);
                }
            }
            slot = (slot + 1) & slots.mask();
        }
        requireOpen();
        return IndexColumn.ABSENT;
    }

    String key(long k) {
        long record = recordOf(k);
        byte[] utf8 = new byte[textLength(record)];
        Targets.copy(record + RECORD_TEXT_OFFSET, new UnsafeBuffer(utf8), 0, utf8.length);
        requireOpen();
        return new String(utf8, StandardCharsets.UTF_8);
    }

    long row(long k) {
        return rowAt(recordOf(k));
    }

    private long recordOf(long k) {
        Objects.checkIndex(k, size());
        return record(RawMemory.getLong(positions.base() + k * Long.BYTES));
    }

    private long rowAt(long record) {
        long row = RawMemory.getLong(record + RECORD_ROW_OFFSET);
        requireOpen();
        if (row < 0) {
            throw slots.damaged("a key maps to row " + row);
        }
        return row;
    }

    /** Returns the address of a record. Its fixed part is within the array. */
    private long record(long position) {
        if (position < 0 || position > lastRecord) {
            requireOpen();
            throw slots.damaged("a record is at " + position + " of " + records.byteSize());
        }
        return base + position;
    }

    /** Returns the length of a record's text. All of it is within the array. */
    private int textLength(long record) {
        int length = RawMemory.getInt(record + RECORD_TEXT_LENGTH_OFFSET);
        if (length < 0 || length > base + lastRecord - record) {
            requireOpen();
            throw slots.damaged("a key has " + length + " bytes");
        }
        return length;
    }

    private void requireOpen() {
        positions.requireOpen();
        records.requireOpen();
        slots.requireOpen();
    }

    boolean isOpen() {
        return slots.isOpen();
    }
}
