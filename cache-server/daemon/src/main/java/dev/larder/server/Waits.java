package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.protocol.Done;
import dev.larder.protocol.Progress;
import dev.larder.protocol.Progress.Phase;
import dev.larder.server.control.Reply;
import dev.larder.server.ingest.Load;
import dev.larder.server.ingest.Loads;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.PublishedVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The clients that wait for a dataset to become resident. Thread-safe; nobody polls. */
final class Waits {
    private final Residency residency;
    private final Loads loads;
    private final ScheduledExecutorService timer;
    private final Map<String, List<Reply>> unknown = new HashMap<>();

    Waits(Residency residency, Loads loads, ScheduledExecutorService timer) {
        this.residency = residency;
        this.loads = loads;
        this.timer = timer;
    }

    /** Answers when {@code name}, a dataset or an array, is resident; at once where that is certain or hopeless. */
    void await(String name, Duration timeout, boolean evenIfUnknown, Reply reply) {
        String dataset = name.indexOf('/') < 0 ? name : name.substring(0, name.indexOf('/'));
        Optional<Load> load = loads.find(dataset);
        Optional<PublishedVersion> resident = residency.find(dataset);
        if (resident.isPresent() && (has(resident.get(), name) || load.isEmpty())) {
            answer(resident.get(), name, reply);
        } else if (load.isPresent()) {
            expireAfter(timeout, name, reply);
            follow(load.get(), dataset, name, reply);
        } else if (evenIfUnknown) {
            expireAfter(timeout, name, reply);
            add(dataset, name, reply);
        } else {
            reply.problem(Failure.of(ErrorCode.NOT_FOUND, "no such dataset")
                    .with("dataset", dataset)
                    .remedy(residency.nearNames(dataset)));
        }
    }

    private void follow(Load load, String dataset, String name, Reply reply) {
        load.listen(reply::progress);
        load.whenEnded((done, failure) -> {
            Optional<PublishedVersion> resident = residency.find(dataset);
            if (failure != null) {
                reply.problem(failure);
            } else if (resident.isPresent()) {
                answer(resident.get(), name, reply);
            } else {
                reply.problem(Failure.of(ErrorCode.NOT_FOUND, "dataset was removed as soon as it was loaded")
                        .with("dataset", dataset)
                        .remedy("load it again"));
            }
        });
    }

    private synchronized void add(String dataset, String name, Reply reply) {
        reply.progress(Progress.of(Phase.WAITING, name, "nobody loads it yet"));
        unknown.computeIfAbsent(dataset, key -> new ArrayList<>()).add(reply);
        reply.onDisconnect(() -> forget(dataset, reply));
    }

    private synchronized void forget(String dataset, Reply reply) {
        List<Reply> replies = unknown.get(dataset);
        if (replies != null && replies.remove(reply) && replies.isEmpty()) {
            unknown.remove(dataset);
        }
    }

    /** Tells those who wait for what nobody was loading that somebody now is. */
    void started(Load load) {
        for (String dataset : load.datasets()) {
            List<Reply> replies;
            synchronized (this) {
                replies = Optional.ofNullable(unknown.remove(dataset)).orElse(List.of());
            }
            replies.forEach(reply -> follow(load, dataset, dataset, reply));
        }
    }

    /** Ends every wait that no load will end. */
    synchronized void close() {
        unknown.values()
                .forEach(replies ->
                        replies.forEach(reply -> reply.problem(Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping")
                                .remedy("start it again with larder serve"))));
        unknown.clear();
    }

    private void expireAfter(Duration timeout, String name, Reply reply) {
        var expiry = timer.schedule(
                () -> reply.problem(Failure.of(ErrorCode.DEADLINE, "dataset did not become resident in time")
                        .with("name", name)
                        .with("timeoutMs", timeout.toMillis())
                        .remedy("wait longer with --timeout, or see larder ls --all")),
                timeout.toMillis(),
                TimeUnit.MILLISECONDS);
        reply.onDisconnect(() -> expiry.cancel(false));
    }

    private static boolean has(PublishedVersion version, String name) {
        int slash = name.indexOf('/');
        return slash < 0
                || version.arrays().stream().anyMatch(array -> array.name().equals(name.substring(slash + 1)));
    }

    private static void answer(PublishedVersion version, String name, Reply reply) {
        if (has(version, name)) {
            reply.done(Done.of(version.arrays().size(), version.dataBytes(), ""));
        } else {
            reply.problem(Failure.of(ErrorCode.NOT_FOUND, "no such array")
                    .with("array", name)
                    .with("version", version.version())
                    .remedy("larder ls lists what it has"));
        }
    }
}
