package dev.larder.column;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import org.jspecify.annotations.Nullable;

/**
 * Stretches of less than a page, one behind the other: many thousands of small columns may be alive at once, and a page for each would be far more memory
 * than their values. Memory is given back in blocks, each when all its stretches are closed. Thread-safe.
 */
final class SmallMemory {
    /** A larger column has pages of its own. The shorter stretches that it left until then are together less than its first page. */
    static final int MOST_BYTES = 2 << 10;

    private static final int LEAST_BYTES = 64;
    private static final int BLOCK_BYTES = 64 << 10;

    private final ColumnMemory memory;
    private @Nullable Block current;

    SmallMemory(ColumnMemory memory) {
        this.memory = memory;
    }

    /** Returns a stretch, all zeros, of at least some bytes. The caller closes it, once. */
    synchronized Stretch allocate(int byteSize) {
        int length = LEAST_BYTES;
        while (length < byteSize) {
            length *= 2;
        }
        Block block = current;
        if (block == null || block.usedBytes + length > BLOCK_BYTES) {
            if (block != null && block.live == 0) {
                free(block);
            }
            block = new Block(memory.allocate(BLOCK_BYTES));
            current = block;
        }
        int end = block.usedBytes + length;
        if (end > block.populatedBytes) {
            int pages = (int) ByteSums.roundUp(end - block.populatedBytes, PageSize.BYTES);
            memory.populate(block.address + block.populatedBytes, pages);
            block.populatedBytes += pages;
        }
        Stretch stretch = new Stretch(block, block.address + block.usedBytes, length);
        block.usedBytes = end;
        block.live++;
        return stretch;
    }

    private synchronized void close(Block block) {
        block.live--;
        if (block.live == 0) {
            free(block);
            current = block == current ? null : current;
        }
    }

    private void free(Block block) {
        memory.free(block.address, BLOCK_BYTES, block.populatedBytes);
    }

    /** Some pages, and how many stretches in them are in use. */
    private static final class Block {
        private final long address;
        private int usedBytes;
        private int populatedBytes;
        private int live;

        Block(long address) {
            this.address = address;
        }
    }

    /** Memory of one column. */
    final class Stretch implements AutoCloseable {
        private final Block block;
        private final long address;
        private final int byteSize;

        private Stretch(Block block, long address, int byteSize) {
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
