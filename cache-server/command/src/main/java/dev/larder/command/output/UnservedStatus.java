package dev.larder.command.output;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.UnservedStore;
import dev.larder.server.store.lock.LockRecord;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The totals of a store that no daemon serves, as {@code larder status} shows them. */
public final class UnservedStatus {
    private final UnservedStore store;
    private final List<FeedRow> feeds;
    private final @Nullable LockRecord last;
    private final OptionalLong pid;
    private final long unfinishedBytes;

    /** Reads the data for the totals. */
    public UnservedStatus(UnservedStore store) {
        this.store = store;
        this.feeds = FeedRow.of(store.layout(), store.held());
        this.last = store.lastDaemon().orElse(null);
        this.pid = store.daemonPid();
        this.unfinishedBytes = store.unfinishedBytes();
    }

    private long usedBytes() {
        return store.storedBytes(version -> true) + store.sharedBytes();
    }

    private long leasedBytes() {
        return store.storedBytes(version -> store.holders().containsKey(version.folder()));
    }

    private long pinnedBytes() {
        Predicate<PublishedVersion> isPinned =
                version -> Files.exists(version.folder().resolve(StoreLayout.PINNED));
        return store.storedBytes(isPinned.and(version -> !store.retired().contains(version)));
    }

    private long retiredBytes() {
        return store.storedBytes(store.retired()::contains);
    }

    private long arrays() {
        return store.current().stream()
                .mapToLong(version -> version.arrays().size())
                .sum();
    }

    private long clients() {
        return store.held().stream()
                .flatMap(held -> held.pids().stream())
                .distinct()
                .count();
    }

    private String hugePages() {
        return Mount.of(store.layout().root()).map(Mount::hugePages).orElse("unknown");
    }

    /** Returns one line for each total. */
    public List<String> facts() {
        List<String> facts = new ArrayList<>(List.of(
                "store       " + store.layout().root(),
                "daemon      " + daemon(),
                "used        " + Units.size(usedBytes()),
                "leased      " + Units.size(leasedBytes()),
                "pinned      " + Units.size(pinnedBytes()),
                "retired     " + Units.size(retiredBytes()),
                "arrays      " + arrays(),
                "clients     " + clients(),
                "huge pages  mount: huge=" + hugePages()));
        if (!store.registrations().isEmpty()) {
            facts.add("registered  " + store.registrations().size()
                    + " datasets that are not in memory: a daemon loads them on request");
        }
        if (!store.unverified().isEmpty()) {
            facts.add("unverified  " + store.unverified().size() + " datasets that a daemon has to check first");
        }
        if (unfinishedBytes > 0) {
            facts.add("unfinished  " + Units.size(unfinishedBytes) + " of loads, which the next daemon removes");
        }
        if (!feeds.isEmpty()) {
            facts.add("");
            facts.addAll(FeedRow.table(feeds, List.of()));
        }
        return facts;
    }

    private String daemon() {
        if (pid.isPresent()) {
            return "starts or ends: pid " + pid.getAsLong();
        } else if (last == null) {
            return "none; its record cannot be read by this user";
        }
        String end = last.isClean() ? "ended and kept the store" : "died without cleaning up";
        return "none; the last one " + end + ": pid " + last.pid() + ", version " + last.release() + ", started "
                + last.started();
    }

    /**
     * Returns the fields of the JSON object: those of a store with a daemon, null if only a daemon has them, and {@code lastDaemon}, null if this
     * user cannot read its record.
     */
    public JsonFields fields() {
        return new JsonFields()
                .with("store", store.layout().root().toString())
                .with("pid", pid.isPresent() ? pid.getAsLong() : null)
                .with("version", null)
                .with("capacityBytes", null)
                .with("usedBytes", usedBytes())
                .with("leasedBytes", leasedBytes())
                .with("pinnedBytes", pinnedBytes())
                .with("retiredBytes", retiredBytes())
                .with("reservedBytes", null)
                .with("arrays", arrays())
                .with("clients", clients())
                .with("hugePages", hugePages())
                .with("hugeBytes", null)
                .with("hugeRefusedBytes", null)
                .with("memoryPolicy", null)
                .with("statusPage", null)
                .with("uptimeSeconds", null)
                .with(
                        "feeds",
                        feeds.stream().map(feed -> feed.fields(List.of())).toList())
                .with("loads", List.of())
                .with("unfinishedBytes", unfinishedBytes)
                .with("lastDaemon", last == null ? null : lastDaemon(last));
    }

    private static JsonFields lastDaemon(LockRecord last) {
        return new JsonFields()
                .with("pid", last.pid())
                .with("version", last.release())
                .with("started", last.started())
                .with("clean", last.isClean());
    }
}
