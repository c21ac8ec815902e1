package dev.larder.client;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.posix.MappedMemory;

/** The view of an array that was opened alone by {@link Larder#open}. It owns its lease, so the caller closes it. */
public final class OwnedArrayView extends ArrayView implements AutoCloseable {
    OwnedArrayView(ArrayEntry entry, MappedMemory memory, Dataset owner) {
        super(entry, memory, owner);
    }

    /** Closes the view and ends its lease; later reads throw. Idempotent. */
    @Override
    public void close() {
        owner.close();
    }
}
