package dev.larder.server.ingest;

import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.ProgressListener;
import dev.larder.server.source.SourceArray;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Work under way that ends with new versions of datasets, or with none. Thread-safe. */
public sealed interface Ingest permits LoadJob, Recheck, Upload {
    /** Returns the datasets that this will publish a version of. */
    Set<String> datasets();

    /** Returns the arrays that are on their way, as far as they are known. */
    List<SourceArray> arrays();

    /** Returns what completes when all is published, or with the failure. */
    CompletableFuture<Done> outcome();

    /** Has an action run once when this has ended, unless what is returned has run; one of the action's arguments is null. */
    Runnable whenEnded(BiConsumer<? super @Nullable Done, ? super @Nullable Throwable> action);

    /** Tells a listener how far this is, now and from now on, until the action that is returned has run. */
    Runnable listen(ProgressListener listener);

    /** Ends this as soon as it can; what it wrote is removed. */
    void cancel();
}
