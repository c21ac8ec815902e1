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

/** A load, build or check that ends with new versions of datasets, or with none. Thread-safe. */
public abstract sealed class Ingest permits LoadJob, Recheck, Upload {
    final LoadProgress progress;
    final IngestOutcome ending = new IngestOutcome();

    private final Set<String> datasets;

    Ingest(Set<String> datasets) {
        this.datasets = datasets;
        this.progress = new LoadProgress(String.join(",", datasets));
    }

    /** Returns the datasets for which this will publish a version. */
    public final Set<String> datasets() {
        return datasets;
    }

    /** Returns the arrays to be published, as far as they are known. */
    public abstract List<SourceArray> arrays();

    /** Returns a future that completes when all is published, or with the failure. */
    public final CompletableFuture<Done> outcome() {
        return ending.outcome();
    }

    /** Runs an action once when this has ended. One of the action's arguments is null. The returned action removes it. */
    public final Runnable whenEnded(BiConsumer<? super @Nullable Done, ? super @Nullable Throwable> action) {
        return ending.whenEnded(action);
    }

    /** Returns the present progress. */
    public final Progress soFar() {
        return progress.snapshot();
    }

    /** Reports the progress to a listener, now and from now on. The returned action removes the listener. */
    public final Runnable listen(ProgressListener listener) {
        return progress.listen(listener);
    }

    /** Ends this as soon as possible, and removes the files that it wrote. */
    public abstract void cancel();
}
