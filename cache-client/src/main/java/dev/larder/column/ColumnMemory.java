package dev.larder.column;

import dev.larder.internal.posix.Posix;

/** Provides the memory that builders of columns fill. Addresses and lengths are bytes, in multiples of a page. Thread-safe. */
public interface ColumnMemory {
    /** Returns anonymous memory of this process, which nothing but the machine limits. */
    static ColumnMemory anonymous() {
        return AnonymousMemory.INSTANCE;
    }

    /** Returns the address of a new stretch, all zeros; its bytes may be touched after {@link #populate}. */
    long allocate(long byteSize);

    /** Sees to it that bytes can be written. Fails with {@link dev.larder.error.ErrorCode#NO_SPACE} where there is no room. */
    void populate(long address, long byteSize);

    /**
     * Takes a stretch back, or pages of one.
     *
     * @param populatedBytes number of bytes from the address that were populated
     */
    void free(long address, long byteSize, long populatedBytes);

    /** Memory that the kernel gives page by page when it is touched. */
    final class AnonymousMemory implements ColumnMemory {
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
