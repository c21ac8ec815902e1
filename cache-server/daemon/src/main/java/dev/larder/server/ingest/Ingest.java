package dev.larder.server.ingest;

import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.server.source.SourceArray;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Work under way that ends with new versions of datasets, or with none. Thread-safe. */
public abstract sealed class Ingest permits LoadJob, Recheck, Upload {
    final LoadProgress progress;
    final IngestOutcome ending = new IngestOutcome();

    private final Set<String> datasets;

    Ingest(Set<String> datasets) {
        this.datasets = datasets;
        this.progress = new LoadProgress(String.join(",", datasets));
    }

    /** Returns the datasets that this will publish a version of. */
    public final Set<String> datasets() {
        return datasets;
    }

    /** Returns the arrays that are on their way, as far as they are known. */
    public abstract List<SourceArray> arrays();

    /** Returns what completes when all is published, or with the failure. */
    public final CompletableFuture<Done> outcome() {
        return ending.outcome();
    }

    /** Has an action run once when this has ended, unless what is returned has run; one of the action's arguments is null. */
    public final Runnable whenEnded(BiConsumer<? super @Nullable Done, ? super @Nullable Throwable> action) {
        return ending.whenEnded(action);
    }

    /** Returns how far this is now. */
    public final Progress soFar() {
        return progress.snapshot();
    }

    /** Tells a listener how far this is, now and from now on, until the action that is returned has run. */
    public final Runnable listen(ProgressListener listener) {
        return progress.listen(listener);
    }

    /** Ends this as soon as it can; what it wrote is removed. */
    public abstract void cancel();
}
