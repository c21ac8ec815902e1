package dev.larder.server.ingest;

import dev.larder.internal.protocol.Done;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The outcome of an ingest, and its listeners. Unlike stages of a future, a listener that is removed is freed immediately. Thread-safe. */
final class IngestOutcome {
    private static final Logger LOG = LoggerFactory.getLogger(IngestOutcome.class);

    private final CompletableFuture<Done> outcome = new CompletableFuture<>();
    private final Map<Object, BiConsumer<? super @Nullable Done, ? super @Nullable Throwable>> actions =
            new LinkedHashMap<>();
    private boolean hasEnded;

    IngestOutcome() {
        var unused = outcome.whenComplete(this::runAll);
    }

    CompletableFuture<Done> outcome() {
        return outcome;
    }

    /** Runs an action once at the end, in the order of these calls. The returned action removes it. */
    Runnable whenEnded(BiConsumer<? super @Nullable Done, ? super @Nullable Throwable> action) {
        Object key = new Object();
        synchronized (actions) {
            if (!hasEnded) {
                actions.put(key, action);
                return () -> forget(key);
            }
        }
        var unused = outcome.whenComplete(action);
        return () -> {};
    }

    private void forget(Object key) {
        synchronized (actions) {
            actions.remove(key);
        }
    }

    private void runAll(@Nullable Done done, @Nullable Throwable failure) {
        List<BiConsumer<? super @Nullable Done, ? super @Nullable Throwable>> all;
        synchronized (actions) {
            hasEnded = true;
            all = new ArrayList<>(actions.values());
            actions.clear();
        }
        for (BiConsumer<? super @Nullable Done, ? super @Nullable Throwable> action : all) {
            try {
                action.accept(done, failure);
            } catch (RuntimeException | Error e) { // the other listeners run all the same
                LOG.warn("a listener failed at the end of a load: {}", e.toString());
            }
        }
    }
}
