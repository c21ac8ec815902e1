package dev.larder.internal.column;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import org.jspecify.annotations.Nullable;

/**
 * Memory for small columns: thousands of them may exist at a time. Columns of less than a page share blocks, because a
 * page for each would need far more memory than the values. A block is freed when its last area is closed. Thread-safe.
 */
final class SmallMemory {
    static final int MOST_BYTES = 32 << 10;

    /** A larger area gets its own block. The shared areas that its column has outgrown add up to less than a page. */
    private static final int MOST_SHARED_BYTES = 2 << 10;

    private static final int LEAST_BYTES = 64;
    private static final int BLOCK_BYTES = 64 << 10;

    private final ColumnMemory memory;
    private @Nullable Block current;

    SmallMemory(ColumnMemory memory) {
        this.memory = memory;
    }

    /** Returns a zeroed area of at least this length. The caller closes it once. */
    synchronized Area allocate(int byteSize) {
        boolean isShared = byteSize <= MOST_SHARED_BYTES;
        int length = (int) ByteSums.roundUp(byteSize, isShared ? LEAST_BYTES : PageSize.BYTES);
        Block block = isShared ? shared(length) : new Block(memory, length);
        block.live++;
        try {
            block.populate(length);
        } catch (RuntimeException | Error e) {
            close(block);
            throw e;
        }
        Area stretch = new Area(block, block.address + block.usedBytes, length);
        block.usedBytes += length;
        return stretch;
    }

    private Block shared(int length) {
        Block block = current;
        if (block == null || block.usedBytes + length > BLOCK_BYTES) {
            block = new Block(memory, BLOCK_BYTES);
            current = block;
        }
        return block;
    }

    private synchronized void close(Block block) {
        block.live--;
        if (block.live == 0) {
            block.free();
            current = block == current ? null : current;
        }
    }

    /** A range of pages, and the number of areas in use in it. */
    private static final class Block {
        private final ColumnMemory memory;
        private final int byteSize;
        private final long address;
        private int usedBytes;
        private int populatedBytes;
        private int live;

        Block(ColumnMemory memory, int byteSize) {
            this.memory = memory;
            this.byteSize = byteSize;
            this.address = memory.allocate(byteSize);
        }

        /** Makes the next bytes writable. */
        void populate(int length) {
            int missing = usedBytes + length - populatedBytes;
            if (missing > 0) {
                int pages = (int) ByteSums.roundUp(missing, PageSize.BYTES);
                memory.populate(address + populatedBytes, pages);
                populatedBytes += pages;
            }
        }

        void free() {
            memory.free(address, byteSize, populatedBytes);
        }
    }

    /** Memory of one column. */
    final class Area implements AutoCloseable {
        private final Block block;
        private final long address;
        private final int byteSize;

        private Area(Block block, long address, int byteSize) {
            this.block = block;
            this.address = address;
            this.byteSize = byteSize;
        }

        long address() {
            return address;
        }

        int byteSize() {
            return byteSize;
        }

        @Override
        public void close() {
            SmallMemory.this.close(block);
        }
    }
}
