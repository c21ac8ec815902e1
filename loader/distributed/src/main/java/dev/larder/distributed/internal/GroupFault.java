package dev.larder.distributed.internal;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.time.Deadline;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The reason why a group is broken: written once, by the first rank that finds it, and read by all. Thread-safe. */
public final class GroupFault {
    private static final Duration PATIENCE = Duration.ofMillis(500);
    private static final long PAUSE_NS = 100_000;

    private final SharedMemory memory;
    private final int rank;
    private volatile @Nullable LarderException told;

    public GroupFault(SharedMemory memory, int rank) {
        this.memory = memory;
        this.rank = rank;
    }

    public boolean isBroken() {
        return memory.getIntVolatile(GroupDescriptor.BROKEN_BY_OFFSET) != 0;
    }

    /** Fails with the reason if the group is broken. */
    public void throwIfBroken() {
        if (isBroken() || told != null) {
            throw reason();
        }
    }

    /** Returns the reason; null if the group is not broken. */
    public @Nullable LarderException broken() {
        return isBroken() || told != null ? reason() : null;
    }

    /** Breaks the group unless another rank has done so, and returns the failure of all ranks. */
    public LarderException breakBecause(ErrorCode code, String message) {
        if (memory.compareAndSetInt(GroupDescriptor.BROKEN_BY_OFFSET, 0, rank + 1)) {
            byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
            int length = Math.min(bytes.length, GroupDescriptor.MESSAGE_LENGTH);
            memory.buffer(GroupDescriptor.MESSAGE_OFFSET, length).put(bytes, 0, length);
            memory.putInt(GroupDescriptor.MESSAGE_LENGTH_OFFSET, length);
            memory.putInt(GroupDescriptor.BROKEN_CODE_OFFSET, code.number());
            memory.putIntVolatile(GroupDescriptor.BROKEN_TOLD_OFFSET, 1);
            memory.getAndAddInt(GroupDescriptor.BELL_OFFSET, 1);
            memory.wake(GroupDescriptor.BELL_OFFSET, Integer.MAX_VALUE);
        }
        return reason();
    }

    private LarderException reason() {
        LarderException first = told;
        if (first == null) {
            first = read();
            told = first;
        }
        return new LarderException(first.rawCode(), String.valueOf(first.getMessage()), null);
    }

    private LarderException read() {
        Deadline deadline = Deadline.after(PATIENCE);
        while (memory.getIntVolatile(GroupDescriptor.BROKEN_TOLD_OFFSET) == 0) {
            if (deadline.isOver()) { // the rank died while it wrote
                int by = memory.getInt(GroupDescriptor.BROKEN_BY_OFFSET) - 1;
                return new LarderException(
                        ErrorCode.UNEXPECTED.number(),
                        "the process group is broken: by=" + by + "; make a new group",
                        null);
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
        int length = memory.getInt(GroupDescriptor.MESSAGE_LENGTH_OFFSET);
        ByteBuffer text = memory.buffer(
                GroupDescriptor.MESSAGE_OFFSET, Math.max(0, Math.min(length, GroupDescriptor.MESSAGE_LENGTH)));
        String message = StandardCharsets.UTF_8.decode(text).toString();
        return new LarderException(memory.getInt(GroupDescriptor.BROKEN_CODE_OFFSET), message, null);
    }
}
