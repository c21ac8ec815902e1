package dev.larder.server.loaders;

import dev.larder.internal.layout.StoreLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Samples the live loaders of a store, and compares each sample with one of a second or more before. Thread-safe. */
public final class LoaderWatch {
    private static final long SHORTEST_WINDOW = TimeUnit.SECONDS.toNanos(1);

    private final StoreLayout store;
    private Map<String, ArrayDeque<LoaderSample>> earlier = new HashMap<>();

    /** Creates a watch; samples nothing yet. */
    public LoaderWatch(StoreLayout store) {
        this.store = store;
    }

    /** Samples all live loaders. The figures of one that is seen for the first time are those since its creation. */
    public synchronized List<LoaderRow> look() {
        Map<String, ArrayDeque<LoaderSample>> samples = new HashMap<>();
        List<LoaderRow> rows = new ArrayList<>();
        for (LoaderSample now : LoaderSample.all(store)) {
            ArrayDeque<LoaderSample> history = earlier.getOrDefault(now.file(), new ArrayDeque<>());
            rows.add(LoaderRow.of(now, LoaderWork.between(base(history, now), now)));
            history.addLast(now);
            samples.put(now.file(), history);
        }
        earlier = samples;
        return rows;
    }

    /** Returns the newest sample that is old enough, or the oldest; null if there is none. Drops the ones before it. */
    private static @Nullable LoaderSample base(ArrayDeque<LoaderSample> history, LoaderSample now) {
        while (history.size() > 1 && isOldEnough(second(history), now)) {
            history.removeFirst();
        }
        return history.peekFirst();
    }

    private static LoaderSample second(ArrayDeque<LoaderSample> history) {
        return history.stream().skip(1).findFirst().orElseThrow();
    }

    private static boolean isOldEnough(LoaderSample sample, LoaderSample now) {
        return now.nanos() - sample.nanos() >= SHORTEST_WINDOW;
    }
}
