package dev.larder.server;

import dev.larder.internal.protocol.Done;
import dev.larder.server.ingest.Ingest;
import java.util.Set;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A load or a build, for the flight recorder. */
@Name("dev.larder.Load")
@Label("Load")
@Description("Datasets were loaded from their sources, or built by a client")
@Category("Larder")
@StackTrace(false)
final class LoadEvent extends Event {
    @Label("Datasets")
    String datasets;

    @Label("Build")
    @Description("Whether a client wrote the data")
    boolean build;

    @Label("Files")
    @Description("0 if nothing had changed")
    long files;

    @Label("Bytes")
    @DataAmount
    long bytes;

    @Label("Failure")
    @Description("The error; none if the load succeeded")
    @Nullable
    String failure;

    private LoadEvent(Set<String> datasets, boolean build) {
        this.datasets = String.join(",", datasets);
        this.build = build;
    }

    /** Begins an event, and records it at the end of the load. */
    static void record(Ingest load, boolean build) {
        LoadEvent event = new LoadEvent(load.datasets(), build);
        event.begin();
        var unused = load.whenEnded(event::ended);
    }

    private void ended(@Nullable Done done, @Nullable Throwable thrown) {
        end();
        if (shouldCommit()) {
            files = done == null ? 0 : done.files();
            bytes = done == null ? 0 : done.bytes();
            failure = thrown == null ? null : thrown.getMessage();
            commit();
        }
    }
}
