package dev.larder.distributed;

import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/** Threads as ranks, each with regions of its own as a process has them. Closing it lets them end. */
final class Gang implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Path folder;
    private final String key;
    private final int worldSize;
    private final UnaryOperator<ProcessGroups> settings;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private Gang(Path folder, String key, int worldSize, UnaryOperator<ProcessGroups> settings) {
        this.folder = folder;
        this.key = key;
        this.worldSize = worldSize;
        this.settings = settings;
    }

    static Gang of(Path folder, String key, int worldSize) {
        return of(folder, key, worldSize, groups -> groups);
    }

    static Gang of(Path folder, String key, int worldSize, UnaryOperator<ProcessGroups> settings) {
        return new Gang(folder, key, worldSize, settings);
    }

    /** What a rank does. */
    interface Part<T> {
        T play(ProcessGroup group) throws Exception;
    }

    /** A call of a group. */
    interface Call {
        void on(ProcessGroup group);
    }

    /** Lets all ranks join, do their part and leave; returns what each has, and throws what the first one has thrown. */
    <T> List<T> run(Part<T> part) {
        List<Future<T>> futures = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            futures.add(start(rank, part));
        }
        try {
            return futures.stream().map(Gang::await).toList();
        } catch (AssertionError e) {
            futures.stream().filter(Future::isDone).forEach(done -> addTo(e, done));
            throw e;
        }
    }

    /** Why one rank does not end, another one may know. */
    private static void addTo(AssertionError failure, Future<?> done) {
        try {
            await(done);
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** Lets all ranks do their part, and returns what each has thrown. */
    List<Optional<RuntimeException>> failures(Part<?> part) {
        return run(group -> {
            try {
                part.play(group);
                return Optional.empty();
            } catch (RuntimeException e) {
                return Optional.of(e);
            }
        });
    }

    /** Lets one rank join, do its part, and leave. */
    <T> Future<T> start(int rank, Part<T> part) {
        return threads.submit(() -> {
            try (Regions regions = FolderRegions.in(folder);
                    ProcessGroup group =
                            settings.apply(ProcessGroups.of(regions, key)).join(rank, worldSize)) {
                return part.play(group);
            }
        });
    }

    static <T> T await(Future<T> future) {
        try {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("a rank does not end", e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            if (!threads.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("ranks do not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
