package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.protocol.LoadRequest;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The loads under way: at most one for each dataset. Thread-safe. */
public final class Loads {
    private final Store store;
    private final Residency residency;
    private final int defaultWorkers;
    private final Map<String, Load> running = new HashMap<>();
    private boolean open = true;

    /** Creates an empty set; {@code defaultWorkers} copy where a request does not say how many. */
    public Loads(Store store, Residency residency, int defaultWorkers) {
        this.store = store;
        this.residency = residency;
        this.defaultWorkers = defaultWorkers;
    }

    /** Finds the load that does just what a request asks for, and counts its client among those that want it. */
    public synchronized Optional<Load> join(LoadRequest request) {
        return running().stream()
                .filter(load -> load.isFor(request) && load.join())
                .findFirst();
    }

    /** Starts a load on a thread of its own; refuses a dataset that is being loaded already, in another way. */
    public synchronized Load start(LoadRequest request) {
        int workers = request.workers() == 0 ? defaultWorkers : request.workers();
        Load load = new Load(request, workers, store, residency);
        requireStartable(load);
        load.datasets().forEach(dataset -> running.put(dataset, load));
        Thread thread = new Thread(() -> load.run(() -> finish(load)), "larder-load");
        thread.setDaemon(true);
        thread.start();
        return load;
    }

    private void requireStartable(Load load) {
        if (!open) {
            throw Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping")
                    .with("datasets", load.datasets())
                    .remedy("start it again with larder serve");
        }
        for (String dataset : load.datasets()) {
            if (running.containsKey(dataset)) {
                throw Failure.of(ErrorCode.REFUSED, "dataset is being loaded already, from elsewhere or in another way")
                        .with("dataset", dataset)
                        .remedy("wait for it with larder wait " + dataset);
            }
        }
    }

    private synchronized void finish(Load load) {
        load.datasets().forEach(running::remove);
    }

    /** Returns the load of a dataset, if one is under way. */
    public synchronized Optional<Load> find(String dataset) {
        return Optional.ofNullable(running.get(dataset));
    }

    /** Returns every load under way. */
    public synchronized List<Load> running() {
        return running.values().stream().distinct().toList();
    }

    /** Cancels every load, refuses new ones, and waits for the running ones to end, at most {@code timeoutMs} in all. */
    public void close(long timeoutMs) {
        List<Load> remaining;
        synchronized (this) {
            open = false;
            remaining = new ArrayList<>(running());
        }
        remaining.forEach(Load::cancel);
        CompletableFuture<?>[] outcomes = remaining.stream().map(Load::outcome).toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(outcomes).get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return; // each load tells its own clients how it ended; files of one that hangs are unlinked all the same
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
