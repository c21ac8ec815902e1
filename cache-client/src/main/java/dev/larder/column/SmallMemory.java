package dev.larder.column;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import org.jspecify.annotations.Nullable;

/**
 * Stretches for small columns: many thousands may be alive at once. Those of less than a page lie one behind the other in blocks: a page for
 * each would be far more memory than their values. A block is given back when all its stretches are closed. Thread-safe.
 */
final class SmallMemory {
    static final int MOST_BYTES = 32 << 10;

    /** A larger stretch is a block of its own. The shared ones that its column left until then are together less than a page. */
    private static final int MOST_SHARED_BYTES = 2 << 10;

    private static final int LEAST_BYTES = 64;
    private static final int BLOCK_BYTES = 64 << 10;

    private final ColumnMemory memory;
    private @Nullable Block current;

    SmallMemory(ColumnMemory memory) {
        this.memory = memory;
    }

    /** Returns a stretch, all zeros, of at least some bytes. The caller closes it, once. */
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

    /** Some pages, and how many stretches in them are in use. */
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

        /** Sees to it that the next bytes can be written. */
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
