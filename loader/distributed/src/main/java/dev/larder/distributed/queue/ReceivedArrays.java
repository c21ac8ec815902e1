package dev.larder.distributed.queue;

import dev.larder.distributed.shared.SharedArray;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The arrays of recent handles, each open once. If there are more than {@link #LIMIT}, the least recently used ones are closed, except
 * those of current handles. Thread-safe; owned by its queue.
 */
final class ReceivedArrays implements AutoCloseable {
    static final int LIMIT = 16;

    private final LongPredicate isHeld;
    private final Map<Long, SharedArray> arrays = new LinkedHashMap<>(2 * LIMIT, 0.75f, true);
    private boolean open = true;

    /** {@code isHeld} returns whether a current handle refers to the array with this region id. */
    ReceivedArrays(LongPredicate isHeld) {
        this.isHeld = isHeld;
    }

    /** Returns an open array by the id of its region, or null. */
    synchronized @Nullable SharedArray find(long id) {
        return arrays.get(id);
    }

    /** Adds an array, or closes it if another thread was faster; returns the array to use. */
    synchronized SharedArray keep(long id, SharedArray opened) {
        SharedArray first = arrays.putIfAbsent(id, opened);
        if (first != null || !open) {
            opened.close();
            return first == null ? opened : first;
        }
        closeOldest();
        return opened;
    }

    private void closeOldest() {
        Iterator<Map.Entry<Long, SharedArray>> oldestFirst = arrays.entrySet().iterator();
        while (arrays.size() > LIMIT && oldestFirst.hasNext()) {
            Map.Entry<Long, SharedArray> oldest = oldestFirst.next();
            if (!isHeld.test(oldest.getKey())) {
                oldestFirst.remove();
                oldest.getValue().close();
            }
        }
    }

    @Override
    public synchronized void close() {
        open = false;
        arrays.values().forEach(SharedArray::close);
    }
}
