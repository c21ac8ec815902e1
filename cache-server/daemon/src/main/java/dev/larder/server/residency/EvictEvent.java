package dev.larder.server.residency;

import dev.larder.server.store.version.PublishedVersion;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** An eviction, for the flight recorder. */
@Name("dev.larder.Evict")
@Label("Evict")
@Description("A version was removed to make room, or on request")
@Category("Larder")
@StackTrace(false)
final class EvictEvent extends Event {
    @Label("Dataset")
    String dataset;

    @Label("Version")
    long version;

    @Label("Bytes")
    @Description("The space that it took")
    @DataAmount
    long bytes;

    @Label("Reloadable")
    @Description("Whether its sources stay known, so that it is loaded again on request")
    boolean reloadable;

    private EvictEvent(PublishedVersion version, boolean reloadable) {
        this.dataset = version.dataset();
        this.version = version.version();
        this.bytes = version.storedBytes();
        this.reloadable = reloadable;
    }

    /** Begins the removal of a version. It ends with {@code commit()}. */
    static EvictEvent of(PublishedVersion version, boolean reloadable) {
        EvictEvent event = new EvictEvent(version, reloadable);
        event.begin();
        return event;
    }
}
