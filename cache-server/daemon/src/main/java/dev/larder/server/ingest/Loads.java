package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Request;
import dev.larder.server.control.FairQueue;
import dev.larder.server.control.Peer;
import dev.larder.server.control.UserQuota;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Publisher;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** The running loads, at most one for each dataset. Thread-safe. */
public final class Loads {
    private static final int MOST_BUILDS = 1_024;
    private static final int DISCARD_THREADS = 4;

    private final Store store;
    private final Residency residency;
    private final GroupQuota quota;
    private final int defaultWorkers;
    private final FairQueue queue;

    /** Builds that are being removed count as well: a client cannot start builds faster than their files are removed. */
    private final UserQuota builds =
            new UserQuota("too many builds", MOST_BUILDS, "try again when some of them are published or removed");

    private final Executor discards = discards();

    private final Map<String, Ingest> running = new HashMap<>();
    private final Map<String, Recheck> rechecks = new LinkedHashMap<>();
    private boolean open = true;

    /**
     * Creates an empty set.
     *
     * @param defaultWorkers how many threads copy if a request has no number
     * @param queue runs the loads; {@link #close} closes it
     */
    public Loads(Store store, Residency residency, GroupQuota quota, int defaultWorkers, FairQueue queue) {
        this.queue = queue;
        this.store = store;
        this.quota = quota;
        this.residency = residency;
        this.defaultWorkers = defaultWorkers;
    }

    /** Returns an executor with a few threads, which end when nothing is left to remove. */
    private static Executor discards() {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                DISCARD_THREADS, DISCARD_THREADS, 1, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "larder-discard");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** Finds a running load with the same request, and adds its client to it. */
    public synchronized Optional<LoadJob> join(LoadRequest request) {
        return running().stream()
                .filter(LoadJob.class::isInstance)
                .map(LoadJob.class::cast)
                .filter(load -> load.isFor(request) && load.join())
                .findFirst();
    }

    /** Starts a load on its own thread when it is its user's turn. Refuses a dataset that is already being loaded in another way. */
    public synchronized LoadJob start(LoadRequest request, Peer peer) {
        int workers = request.workers() == 0 ? defaultWorkers : request.workers();
        LoadJob load = new LoadJob(request, workers, store, residency);
        requireStartable(load);
        load.datasets().stream().map(rechecks::get).filter(Objects::nonNull).forEach(load::startAfter);
        load.datasets().forEach(dataset -> running.put(dataset, load));
        Runnable work = () -> load.run(() -> finish(load));
        try {
            FairQueue.Ticket ticket = queue.submit(peer, "Load", work);
            load.onCancel(() -> {
                if (ticket.withdraw()) {
                    work.run(); // it only ends the load
                }
            });
        } catch (RuntimeException | Error e) {
            finish(load);
            throw e;
        }
        return load;
    }

    /**
     * Starts a build by a client, unless the dataset is being loaded or built already. Returns when the client may begin, which may take a
     * while; other clients find the build immediately.
     *
     * @param request the request of the client
     * @param publisher the owner of the build
     * @param hasClient returns whether the client still waits
     */
    public Optional<Upload> tryStartUpload(Request.Create request, Publisher publisher, BooleanSupplier hasClient) {
        Optional<Upload> upload = tryEnter(request, publisher);
        upload.ifPresent(entered -> entered.begin(hasClient));
        return upload;
    }

    /** Reserves the name of the dataset only. */
    private synchronized Optional<Upload> tryEnter(Request.Create request, Publisher publisher) {
        String dataset = request.name();
        requireOpen(Set.of(dataset));
        if (running.containsKey(dataset) || rechecks.containsKey(dataset)) {
            return Optional.empty();
        }
        builds.take(peer(publisher));
        Upload upload = new Upload(
                new Upload.Terms(dataset, defaultWorkers, request.bytes(), request.retention(), publisher),
                store,
                residency,
                quota,
                discards,
                () -> finishUpload(dataset, publisher));
        running.put(dataset, upload);
        return Optional.of(upload);
    }

    private static Peer peer(Publisher publisher) {
        return new Peer(0, publisher.uid(), publisher.user(), !publisher.isMember());
    }

    private synchronized void finishUpload(String dataset, Publisher publisher) {
        builds.release(peer(publisher));
        running.remove(dataset);
    }

    /** Gives up the builds of members that have written more than they announced. */
    public void requireAnnounced() {
        List<Upload> building;
        synchronized (this) {
            building = running.values().stream()
                    .filter(Upload.class::isInstance)
                    .map(Upload.class::cast)
                    .toList();
        }
        building.forEach(Upload::requireAnnounced);
    }

    private void requireOpen(Set<String> datasets) {
        if (!open) {
            throw Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping")
                    .with("datasets", datasets)
                    .remedy(Remedy.START_DAEMON);
        }
    }

    private void requireStartable(Ingest load) {
        requireOpen(load.datasets());
        for (String dataset : load.datasets()) {
            Ingest other = running.get(dataset);
            if (other instanceof LoadJob ending && ending.isCancelled()) {
                throw Failure.of(ErrorCode.REFUSED, "a cancelled load of the dataset is still ending")
                        .with("dataset", dataset)
                        .remedy(
                                "try again in a moment; if its file system hangs, larder errors lists it; or load it under another name");
            } else if (other != null) {
                throw Failure.of(
                                ErrorCode.REFUSED,
                                "dataset is already being loaded, from another path or with other options")
                        .with("dataset", dataset)
                        .remedy("wait for it with larder wait " + dataset);
            }
        }
    }

    /**
     * Makes clients wait until versions have been compared with their checksums. A requested version is compared immediately, the others by
     * {@link #start(List)}. Skips a version if its dataset is being loaded, built or compared.
     *
     * @return the new checks, for the caller to follow
     */
    public synchronized List<Recheck> recheck(List<PublishedVersion> versions) {
        List<Recheck> added = new ArrayList<>();
        for (PublishedVersion version : versions) {
            String dataset = version.dataset();
            if (open && !running.containsKey(dataset) && !rechecks.containsKey(dataset)) {
                Recheck recheck = new Recheck(version, residency, defaultWorkers, () -> finishRecheck(dataset));
                rechecks.put(dataset, recheck);
                added.add(recheck);
            }
        }
        return added;
    }

    /** Compares versions one after the other, unless their comparison has begun. */
    public void start(List<Recheck> all) {
        Thread thread = new Thread(() -> all.forEach(Recheck::run), "larder-recheck");
        thread.setDaemon(true);
        thread.start();
    }

    private synchronized void finishRecheck(String dataset) {
        rechecks.remove(dataset);
    }

    private synchronized void finish(Ingest load) {
        load.datasets().forEach(running::remove);
    }

    /** Returns the running load of a dataset, if any. */
    public synchronized Optional<Ingest> find(String dataset) {
        Recheck recheck = rechecks.get(dataset);
        if (recheck != null) {
            recheck.startNow();
        }
        return Optional.<Ingest>ofNullable(running.get(dataset)).or(() -> Optional.ofNullable(recheck));
    }

    /** Returns all running loads. */
    public synchronized List<Ingest> running() {
        return Stream.concat(running.values().stream(), rechecks.values().stream())
                .distinct()
                .toList();
    }

    /** Cancels all loads, refuses new ones, and waits until the running ones have ended, at most {@code timeoutMs} in total. */
    public void close(long timeoutMs) {
        List<Ingest> remaining;
        synchronized (this) {
            open = false;
            remaining = new ArrayList<>(running());
        }
        remaining.forEach(Ingest::cancel);
        queue.close();
        CompletableFuture<?>[] outcomes =
                remaining.stream().map(Ingest::outcome).toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(outcomes).get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return; // each load reports its outcome to its clients; files of a hanging load are unlinked all the same
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
