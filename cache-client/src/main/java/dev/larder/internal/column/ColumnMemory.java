package dev.larder.internal.column;

import dev.larder.internal.posix.Posix;

/** Provides memory for builders of columns. Addresses and lengths are in bytes and multiples of a page. Thread-safe. */
public abstract class ColumnMemory {
    private final SmallMemory small = new SmallMemory(this);

    /** Returns anonymous memory of this process, which only the machine limits. */
    public static ColumnMemory anonymous() {
        return AnonymousMemory.INSTANCE;
    }

    /** Returns the address of a new, zeroed range. Its bytes may be used after {@link #populate}. */
    public abstract long allocate(long byteSize);

    /** Makes bytes writable. Fails with {@link dev.larder.error.ErrorCode#NO_SPACE} if there is no room. */
    public abstract void populate(long address, long byteSize);

    /**
     * Frees a range, or pages of one.
     *
     * @param populatedBytes number of bytes from the address that were populated
     */
    public abstract void free(long address, long byteSize, long populatedBytes);

    /** Returns the memory that small columns share. */
    final SmallMemory small() {
        return small;
    }

    /** Memory that the kernel allocates page by page at the first use. */
    private static final class AnonymousMemory extends ColumnMemory {
        private static final AnonymousMemory INSTANCE = new AnonymousMemory();

        private AnonymousMemory() {}

        @Override
        public long allocate(long byteSize) {
            return Posix.system().allocate(byteSize);
        }

        @Override
        public void populate(long address, long byteSize) {
            // the kernel does this at the first write
        }

        @Override
        public void free(long address, long byteSize, long populatedBytes) {
            Posix.system().unmap(address, byteSize);
        }
    }
}
