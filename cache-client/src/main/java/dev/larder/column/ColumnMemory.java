package dev.larder.column;

import dev.larder.internal.posix.Posix;

/** Provides the memory that builders of columns fill. Addresses and lengths are bytes, in multiples of a page. Thread-safe. */
public abstract class ColumnMemory {
    private final SmallMemory small = new SmallMemory(this);

    /** Returns anonymous memory of this process, which nothing but the machine limits. */
    public static ColumnMemory anonymous() {
        return AnonymousMemory.INSTANCE;
    }

    /** Returns the address of a new stretch, all zeros; its bytes may be touched after {@link #populate}. */
    public abstract long allocate(long byteSize);

    /** Sees to it that bytes can be written. Fails with {@link dev.larder.error.ErrorCode#NO_SPACE} where there is no room. */
    public abstract void populate(long address, long byteSize);

    /**
     * Takes a stretch back, or pages of one.
     *
     * @param populatedBytes number of bytes from the address that were populated
     */
    public abstract void free(long address, long byteSize, long populatedBytes);

    /** Returns the part of this memory that small columns share. */
    final SmallMemory small() {
        return small;
    }

    /** Memory that the kernel gives page by page when it is touched. */
    private static final class AnonymousMemory extends ColumnMemory {
        private static final AnonymousMemory INSTANCE = new AnonymousMemory();

        private AnonymousMemory() {}

        @Override
        public long allocate(long byteSize) {
            return Posix.system().allocate(byteSize);
        }

        @Override
        public void populate(long address, long byteSize) {
            // the kernel does so at the first touch
        }

        @Override
        public void free(long address, long byteSize, long populatedBytes) {
            Posix.system().unmap(address, byteSize);
        }
    }
}
