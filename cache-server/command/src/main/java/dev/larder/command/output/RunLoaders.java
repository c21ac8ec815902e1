package dev.larder.command.output;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.loaders.LoaderRow;
import dev.larder.server.loaders.LoaderWatch;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Finds the live loaders of a run, by any of its names. */
public final class RunLoaders {
    private static final long WINDOW_MS = 2_000;

    private RunLoaders() {}

    /**
     * Samples the loaders of a feed, a dataset, a process, a reader of a feed, or a run with a name, over two seconds. Fails with {@code
     * NOT_FOUND} if there is none.
     */
    public static List<LoaderRow> of(StoreLayout store, String run) {
        LoaderWatch watch = new LoaderWatch(store);
        var unused = watch.look();
        try {
            TimeUnit.MILLISECONDS.sleep(WINDOW_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        List<FeedRow> feeds = FeedRow.of(store, List.of());
        List<LoaderRow> all = watch.look();
        List<LoaderRow> found =
                all.stream().filter(row -> isOf(row, run, feeds)).toList();
        if (found.isEmpty()) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no live loader of this run")
                    .with("run", run)
                    .with("loaders", names(all))
                    .remedy("name a feed, a dataset, the pid of a trainer or feed, or the name of a launch or grid");
        }
        return found;
    }

    static boolean isOf(LoaderRow row, String run, List<FeedRow> feeds) {
        return run.equals(row.feed())
                || run.equals(row.dataset())
                || isOfProcess(row, run)
                || isReaderOf(row, run, feeds);
    }

    private static boolean isOfProcess(LoaderRow row, String run) {
        Optional<ProcessFacts> process = ProcessFacts.of(row.pid());
        if (process.isPresent() && process.get().startTicks() != row.processStart()) {
            return false; // the loader runs in another pid namespace, and this process only has the same pid
        }
        return run.equals(Long.toString(row.pid()))
                || process.flatMap(facts -> Optional.ofNullable(facts.run())).stream()
                        .anyMatch(facts -> run.equals(facts.name()));
    }

    private static boolean isReaderOf(LoaderRow row, String run, List<FeedRow> feeds) {
        return feeds.stream()
                .filter(feed -> feed.name().equals(row.feed()))
                .flatMap(feed -> feed.consumers().stream())
                .anyMatch(consumer -> run.equals(Long.toString(consumer.pid())));
    }

    private static String names(List<LoaderRow> rows) {
        return rows.isEmpty()
                ? "none"
                : String.join(
                        ",",
                        rows.stream()
                                .map(row -> (row.feed().isEmpty() ? row.dataset() : row.feed()) + ":" + row.pid())
                                .toList());
    }
}
