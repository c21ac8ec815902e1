package dev.larder.command.serve;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.terminal.ProgressDisplay;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.Daemon;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Loads the datasets that a daemon starts with. */
public final class FirstLoads {
    private final Daemon daemon;
    private final ProgressDisplay display;
    private final List<String> forgotten = new ArrayList<>();

    /** Creates loads for the daemon of this process. */
    public FirstLoads(Daemon daemon, ProgressDisplay display) {
        this.daemon = daemon;
        this.display = display;
    }

    /** Loads all datasets together, which either succeeds or publishes none of them. */
    public void loadAll(LoadRequest request) {
        display.done(daemon.load(request, display));
    }

    /**
     * Loads all datasets together, or, if that fails, one by one. The daemon reports those that fail, and tries again on a reload.
     *
     * @return the datasets that are not loaded, in the order of the request
     * @throws LarderException if the daemon is stopped meanwhile, or the options are wrong
     */
    public Map<String, LarderException> loadWhatLoads(LoadRequest request) {
        Map<String, LarderException> failed = new LinkedHashMap<>();
        List<LoadRequest> each = split(request);
        daemon.loadedApart(
                request.sources().stream().map(LoadRequest.Source::name).collect(Collectors.toSet()));
        try {
            loadAll(request);
        } catch (LarderException e) {
            requireNoEnd(e);
            if (each.size() == 1) {
                postpone(request, e, failed);
            } else {
                loadEach(each, failed);
            }
        } finally {
            daemon.loadedApart(Set.of());
        }
        return failed;
    }

    private void loadEach(List<LoadRequest> requests, Map<String, LarderException> failed) {
        List<Dataset> loaded = new ArrayList<>();
        try (Larder larder = Larder.connect(daemon.layout().root())) {
            for (LoadRequest request : requests) {
                try {
                    loadAll(request);
                    // a lease: the next dataset must not take the memory of this one
                    loaded.add(larder.dataset(request.sources().get(0).name()));
                } catch (LarderException e) {
                    requireNoEnd(e);
                    postpone(request, e, failed);
                }
            }
        } finally {
            loaded.forEach(Dataset::close);
        }
    }

    private void postpone(LoadRequest request, LarderException failure, Map<String, LarderException> failed) {
        String dataset = request.sources().get(0).name();
        display.problem(failure);
        if (!daemon.postpone(request)) {
            forgotten.add(dataset);
        }
        failed.put(dataset, failure);
    }

    /** Returns the datasets that failed and that no reload can load, as their addresses contain a secret and are not kept. */
    public List<String> forgotten() {
        return List.copyOf(forgotten);
    }

    /** Wrong options are wrong for every dataset, and a daemon that ends loads none. */
    private static void requireNoEnd(LarderException failure) {
        if (isStop(failure) || failure.code() == ErrorCode.USAGE) {
            throw failure;
        }
    }

    /** Returns whether a load failed because the daemon of this process was stopped. */
    public static boolean isStop(Throwable failure) {
        return failure instanceof LarderException known
                && (known.code() == ErrorCode.INTERRUPTED || known.code() == ErrorCode.NO_DAEMON);
    }

    private static List<LoadRequest> split(LoadRequest request) {
        Map<String, List<LoadRequest.Source>> datasets = new LinkedHashMap<>();
        request.sources()
                .forEach(source -> datasets.computeIfAbsent(source.name(), name -> new ArrayList<>())
                        .add(source));
        return datasets.values().stream()
                .map(sources -> new LoadRequest(sources, request.options(), request.workers())
                        .withRetention(request.retention()))
                .toList();
    }
}
