package dev.larder.distributed.queue;

import dev.larder.distributed.internal.memory.SharedMemory;
import java.util.Arrays;
import java.util.BitSet;

/** The ring and the states of records, as specified by {@link QueueDescriptor}. No method waits. Thread-safe. */
final class HandleRing {
    private final SharedMemory memory;
    private final int records;
    private final int entries;
    private final int capacity;
    private final long statesOffset;

    HandleRing(SharedMemory memory, int records, int capacity) {
        this.memory = memory;
        this.records = records;
        this.entries = QueueDescriptor.entries(records);
        this.capacity = capacity;
        this.statesOffset = QueueDescriptor.statesOffset(records);
    }

    long state(int record) {
        return memory.getLongVolatile(statesOffset + (long) record * Long.BYTES);
    }

    boolean change(int record, long before, long after) {
        return memory.compareAndSetLong(statesOffset + (long) record * Long.BYTES, before, after);
    }

    /** Claims a free record between two numbers, and returns it; -1 if there is none. */
    int claim(int first, int end, int seat) {
        for (int record = first; record < end; record++) {
            long state = state(record);
            if (QueueDescriptor.kind(state) == QueueDescriptor.FREE
                    && change(
                            record,
                            state,
                            QueueDescriptor.state(
                                    QueueDescriptor.CLAIMED, seat, QueueDescriptor.generation(state) + 1))) {
                return record;
            }
        }
        return -1;
    }

    /** Puts a record at the end; false if the queue is full. */
    boolean put(int record, long generation) {
        return put(record, generation, capacity);
    }

    /**
     * Puts a record at the end, even beyond the capacity, or in place of an invalid entry. There is such an entry if all are full, because
     * there are as many entries as records. So this loops only while other members make progress.
     */
    void putAnyway(int record, long generation) {
        while (!put(record, generation, entries) && !replaceWorthless(record, generation) && !memory.isClosed()) {
            Thread.onSpinWait();
        }
    }

    private boolean replaceWorthless(int record, long generation) {
        for (int i = 0; i < entries; i++) {
            long entry = entry(i);
            int found = QueueDescriptor.record(entry);
            if (found >= 0
                    && !QueueDescriptor.awaits(state(found), entry)
                    && changeEntry(
                            i, entry, QueueDescriptor.fullEntry(QueueDescriptor.turn(entry), record, generation))) {
                return true;
            }
        }
        return false;
    }

    /** Does the step "put" of {@link QueueDescriptor}. */
    private boolean put(int record, long generation, int limit) {
        while (true) {
            long ticket = tail();
            long entry = entry(ticket);
            int behind = turn(ticket) - QueueDescriptor.turn(entry); // differences, because turns wrap around
            if (behind == 0 && QueueDescriptor.record(entry) < 0) { // empty in this turn: fill it
                if (ticket - head() >= limit && !clearHead()) {
                    return false;
                }
                if (ticket - head() < limit
                        && changeEntry(ticket, entry, QueueDescriptor.fullEntry(turn(ticket), record, generation))) {
                    advance(QueueDescriptor.TAIL_OFFSET, ticket);
                    return true;
                }
            } else if (behind <= 0) { // full or emptied: another member has put there, but not raised the tail yet
                advance(QueueDescriptor.TAIL_OFFSET, ticket);
            } else if (ticket == tail() && !clearHead()) { // of the turn before: the ring is full
                return false;
            }
        }
    }

    /** Takes the first record for a member, and returns it; -1 if there is none. */
    int take(int seat) {
        while (true) {
            long ticket = head();
            long entry = entry(ticket);
            int behind = turn(ticket) - QueueDescriptor.turn(entry);
            int record = QueueDescriptor.record(entry);
            if (behind == 0 && record < 0) { // empty in this turn: no put yet, unless the head has moved
                if (ticket == head()) {
                    return -1;
                }
            } else if (behind == 0) { // full: take it, or clear it if it is invalid
                long state = state(record);
                if (entry(ticket) != entry) {
                    continue; // the state may be of a later generation with the same bits in the entry
                }
                boolean isTaken = QueueDescriptor.awaits(state, entry)
                        && change(
                                record,
                                state,
                                QueueDescriptor.state(QueueDescriptor.TAKEN, seat, QueueDescriptor.generation(state)));
                if (isTaken || !QueueDescriptor.awaits(state(record), entry)) {
                    clear(ticket, entry);
                }
                if (isTaken) {
                    return record;
                }
            } else if (behind < 0) { // emptied: another member has taken it, but not raised the head yet
                advance(QueueDescriptor.HEAD_OFFSET, ticket);
            } else if (ticket == head()) {
                return -1; // the memory is closed: no entry is older than the head
            }
        }
    }

    /** Removes an invalid entry from the head; false if there was none. */
    private boolean clearHead() {
        long ticket = head();
        long entry = entry(ticket);
        int behind = turn(ticket) - QueueDescriptor.turn(entry);
        int record = QueueDescriptor.record(entry);
        if (behind < 0) { // emptied: another member has taken it, but not raised the head yet
            advance(QueueDescriptor.HEAD_OFFSET, ticket);
            return true;
        }
        // The second half of "take" for a member that died or is stopped after the first.
        if (behind == 0 && record >= 0 && !QueueDescriptor.awaits(state(record), entry)) {
            clear(ticket, entry);
            return true;
        }
        return ticket != head();
    }

    /** Empties an entry, unless another member has done so, or has put another record, at which the head stays. */
    private void clear(long ticket, long entry) {
        if (changeEntry(ticket, entry, QueueDescriptor.emptyEntry(turn(ticket) + 1))) {
            advance(QueueDescriptor.HEAD_OFFSET, ticket);
        }
    }

    private void advance(int offset, long ticket) {
        memory.compareAndSetLong(offset, ticket, ticket + 1);
    }

    /**
     * Returns the records in the ring that have one of these states. A put of a member that died before this call is complete, or will
     * never be.
     */
    BitSet put(long[] states) {
        BitSet put = new BitSet(records);
        for (int i = 0; i < entries; i++) {
            long entry = entry(i);
            int record = QueueDescriptor.record(entry);
            if (record >= 0 && record < records && QueueDescriptor.awaits(states[record], entry)) {
                put.set(record);
            }
        }
        return put;
    }

    long[] states() {
        long[] states = new long[records];
        for (int record = 0; record < records; record++) {
            states[record] = state(record);
        }
        return states;
    }

    /** Returns whether there is nothing to take, and nothing can come back from consumers. */
    boolean isEmpty(boolean redelivers) {
        long[] states = states();
        boolean isAnyOut = redelivers
                && Arrays.stream(states)
                        .mapToInt(QueueDescriptor::kind)
                        .anyMatch(kind -> kind == QueueDescriptor.TAKEN || kind == QueueDescriptor.RETURNING);
        return !isAnyOut && put(states).isEmpty();
    }

    int records() {
        return records;
    }

    /** Returns the approximate number of full entries. */
    long size() {
        return Math.max(0, tail() - head());
    }

    private long tail() {
        return memory.getLongVolatile(QueueDescriptor.TAIL_OFFSET);
    }

    private long head() {
        return memory.getLongVolatile(QueueDescriptor.HEAD_OFFSET);
    }

    private int turn(long ticket) {
        return (int) (ticket / entries);
    }

    private long entry(long ticket) {
        return memory.getLongVolatile(offset(ticket));
    }

    private boolean changeEntry(long ticket, long before, long after) {
        return memory.compareAndSetLong(offset(ticket), before, after);
    }

    private long offset(long ticket) {
        return QueueDescriptor.RING_OFFSET + (ticket & (entries - 1)) * Long.BYTES;
    }
}
