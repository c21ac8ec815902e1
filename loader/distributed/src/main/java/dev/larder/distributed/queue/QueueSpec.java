package dev.larder.distributed.queue;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;

/**
 * The settings of a queue, the same for all members.
 *
 * @param capacity the most handles in the queue
 * @param buffers the number of its own buffers
 * @param producers the number of producers that finish before the end
 * @param redelivers whether the handles of dead consumers are put again
 */
record QueueSpec(int capacity, int buffers, long bufferByteSize, int producers, boolean redelivers) {
    QueueSpec {
        boolean isTooLarge = (long) capacity + buffers > QueueDescriptor.RECORD_LIMIT;
        boolean hasBuffers = buffers == 0 || (bufferByteSize > 0 && bufferByteSize <= Integer.MAX_VALUE - 8);
        if (capacity <= 0 || buffers < 0 || isTooLarge || !hasBuffers || producers <= 0) {
            throw new IllegalArgumentException("capacity=" + capacity + " buffers=" + buffers + " bufferBytes="
                    + bufferByteSize + " producers=" + producers);
        }
    }

    int records() {
        return capacity + buffers;
    }

    long byteSize() {
        return bufferOffset(buffers);
    }

    long bufferOffset(int buffer) {
        return QueueDescriptor.buffersOffset(records()) + buffer * QueueDescriptor.bufferStride(bufferByteSize);
    }

    void write(SharedMemory memory) {
        memory.putInt(QueueDescriptor.CAPACITY_OFFSET, capacity);
        memory.putInt(QueueDescriptor.BUFFERS_OFFSET, buffers);
        memory.putLong(QueueDescriptor.BUFFER_BYTE_SIZE_OFFSET, bufferByteSize);
        memory.putInt(QueueDescriptor.PRODUCERS_OFFSET, producers);
        memory.putInt(QueueDescriptor.REDELIVERS_OFFSET, redelivers ? 1 : 0);
    }

    /** Reads the settings, and checks that the region has the right size. */
    static QueueSpec read(Region region) {
        SharedMemory memory = region.memory();
        int capacity = memory.getInt(QueueDescriptor.CAPACITY_OFFSET);
        int buffers = memory.getInt(QueueDescriptor.BUFFERS_OFFSET);
        long bufferByteSize = memory.getLong(QueueDescriptor.BUFFER_BYTE_SIZE_OFFSET);
        int producers = memory.getInt(QueueDescriptor.PRODUCERS_OFFSET);
        boolean redelivers = memory.getInt(QueueDescriptor.REDELIVERS_OFFSET) == 1;
        try {
            QueueSpec spec = new QueueSpec(capacity, buffers, bufferByteSize, producers, redelivers);
            if (spec.byteSize() == memory.byteSize()) {
                return spec;
            }
        } catch (IllegalArgumentException e) {
            throw region.damaged(e);
        }
        throw region.damaged(null);
    }
}
