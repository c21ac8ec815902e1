package dev.larder.distributed.queue;

import dev.larder.distributed.shared.SharedArray;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The arrays that handles have stood for lately, each open once. Where there are more than {@link #LIMIT}, those used longest ago are
 * closed, except for those that a handle of this process stands for. Thread-safe; owned by its queue.
 */
final class ReceivedArrays implements AutoCloseable {
    static final int LIMIT = 16;

    private final LongPredicate isHeld;
    private final Map<Long, SharedArray> arrays = new LinkedHashMap<>(2 * LIMIT, 0.75f, true);
    private boolean open = true;

    /** Asks {@code isHeld} whether a handle here stands for the array whose region has this id. */
    ReceivedArrays(LongPredicate isHeld) {
        this.isHeld = isHeld;
    }

    /** Finds an array by its region's id; null where it is to be opened. */
    synchronized @Nullable SharedArray find(long id) {
        return arrays.get(id);
    }

    /** Owns an array from now on, or closes it where another thread was faster; returns the one to be used. */
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
