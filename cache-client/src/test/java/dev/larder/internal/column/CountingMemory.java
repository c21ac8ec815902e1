package dev.larder.internal.column;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.TreeMap;

/** Memory that is freed at most once. */
final class CountingMemory extends ColumnMemory {
    private final TreeMap<Long, Long> freed = new TreeMap<>();
    long allocatedBytes;
    long populatedBytes;
    long freedBytes;
    boolean isFull;

    @Override
    public long allocate(long byteSize) {
        allocatedBytes += byteSize;
        long address = ColumnMemory.anonymous().allocate(byteSize);
        freed.subMap(address, address + byteSize).clear();
        return address;
    }

    @Override
    public void populate(long address, long byteSize) {
        if (isFull) {
            throw new IllegalStateException("full");
        }
        populatedBytes += byteSize;
    }

    @Override
    public void free(long address, long byteSize, long populatedBytes) {
        assertThat(freed.put(address, byteSize)).isNull();
        freedBytes += byteSize;
        ColumnMemory.anonymous().free(address, byteSize, populatedBytes);
    }
}
