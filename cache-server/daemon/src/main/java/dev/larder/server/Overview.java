package dev.larder.server;

import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.ReleaseVersion;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Loads;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.metrics.History;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/** Reads the state of a daemon without changing it. Thread-safe. */
public final class Overview {
    private static final long OWN_PID = ProcessHandle.current().pid();
    /** The most leases that one sample looks at. A look takes some 20 µs. */
    private static final int LOOKS_A_SAMPLE = 200;

    private final Store store;
    private final Residency residency;
    private final Loads loads;
    private final PageCollapse pages;
    private final Counters counters;
    private final ErrorLog errors;
    private final long startNs = System.nanoTime();
    private final Instant started = Instant.now();
    private final History history = new History();
    private int samplesUntilLook;
    private long lastLeasedBytes;
    private volatile String statusPage = "";

    Overview(Store store, Residency residency, Loads loads, PageCollapse pages, Counters counters, ErrorLog errors) {
        this.store = store;
        this.residency = residency;
        this.loads = loads;
        this.pages = pages;
        this.counters = counters;
        this.errors = errors;
    }

    /**
     * A version of a dataset, or a dataset that is not loaded.
     *
     * @param version 0 if none was ever published
     * @param digest empty if none was ever published
     * @param bytes the length of its data
     * @param storedBytes the space it occupies
     * @param pids the processes that lease it, as far as this pid namespace shows them
     * @param isLeased whether any process leases it
     * @param isSourced whether it can be loaded again
     * @param lastUse when it was last seen in use
     * @param ttl it is removed after this time without use; zero for no limit
     */
    public record DatasetRow(
            String name,
            long version,
            String digest,
            ArrayRow.State state,
            long arrays,
            long bytes,
            long storedBytes,
            boolean isPinned,
            List<Long> pids,
            boolean isLeased,
            boolean isSourced,
            List<String> origins,
            Instant lastUse,
            Duration ttl) {
        public DatasetRow {
            pids = List.copyOf(pids);
            origins = List.copyOf(origins);
        }
    }

    /** Returns totals. */
    public DaemonStatus status() {
        List<PublishedVersion> all = residency.all();
        Map<Path, List<Long>> holders = store.leases().holdersOf(all);
        Set<Long> clients = new HashSet<>();
        holders.values().forEach(clients::addAll);
        List<PublishedVersion> leased = all.stream()
                .filter(version -> holders.containsKey(version.folder()))
                .toList();
        return status(sum(leased, PublishedVersion::storedBytes), residency.pinnedBytes(), clients.size());
    }

    /** Returns totals for these rows, without reading their files again. */
    public DaemonStatus status(List<DatasetRow> rows) {
        return status(
                storedBytes(rows, DatasetRow::isLeased),
                storedBytes(rows, row -> row.isPinned() && row.state() != ArrayRow.State.RETIRED),
                rows.stream().flatMap(row -> row.pids().stream()).distinct().count());
    }

    private static long storedBytes(List<DatasetRow> rows, Predicate<DatasetRow> filter) {
        return rows.stream().filter(filter).mapToLong(DatasetRow::storedBytes).sum();
    }

    private DaemonStatus status(long leasedBytes, long pinnedBytes, long clients) {
        return new DaemonStatus(
                store.layout().root().toString(),
                OWN_PID,
                ReleaseVersion.text(),
                store.capacityBytes(),
                residency.usedBytes() + store.sharedBytes(),
                leasedBytes,
                pinnedBytes,
                sum(residency.retired(), PublishedVersion::storedBytes),
                store.reservedBytes(),
                sum(residency.current(), version -> version.arrays().size()),
                clients,
                store.hugePages(),
                pages.hugeBytes(),
                pages.refusedBytes(),
                store.memoryPolicy().toString(),
                Duration.ofNanos(System.nanoTime() - startNs),
                statusPage);
    }

    /** Sets the address of the status page, which starts after all else. */
    void statusPageIsAt(URI address) {
        statusPage = address.toString();
    }

    /** Adds a sample to the history. Only one thread calls this. */
    void addToHistory() {
        if (samplesUntilLook-- == 0) {
            lastLeasedBytes = leasedBytes();
            samplesUntilLook = residency.all().size() / LOOKS_A_SAMPLE;
        }
        history.add(new History.Sample(
                System.currentTimeMillis(),
                residency.usedBytes() + store.sharedBytes(),
                lastLeasedBytes,
                count(Counter.ASK_HITS),
                count(Counter.ASK_MISSES)));
    }

    /** Adds up the leased versions of this moment; the counter has those of the last look, and nothing looks while no page is open. */
    private long leasedBytes() {
        return sum(residency.all(), version -> store.leases().isLeased(version.folder()) ? version.storedBytes() : 0);
    }

    /** Returns samples of the last minutes, the oldest first. */
    public List<History.Sample> history() {
        return history.samples();
    }

    private static long sum(Collection<PublishedVersion> versions, ToLongFunction<PublishedVersion> value) {
        return versions.stream().mapToLong(value).sum();
    }

    /** Returns when the daemon started. */
    public Instant started() {
        return started;
    }

    /** Returns the value of a counter. */
    public long count(Counter counter) {
        return counters.value(counter);
    }

    /** Returns the arrays at this moment. */
    Listing listing() {
        return Listing.of(store, residency, loads);
    }

    /** Returns the rows of a dataset or an array by its name, without replaced versions; empty if it is unknown. */
    public List<ArrayRow> arrays(String name) {
        return listing().rows(name);
    }

    /** Returns every version that has files, and every other known dataset, sorted by name, retired versions last. */
    public List<DatasetRow> datasets() {
        List<PublishedVersion> all = residency.all();
        Map<Path, List<Long>> holders = store.leases().holdersOf(all);
        List<DatasetRow> rows = new ArrayList<>();
        for (PublishedVersion version : residency.current()) {
            rows.add(row(version, version.isInPlace() ? ArrayRow.State.MAPPED : ArrayRow.State.RESIDENT, holders));
        }
        residency.unverified().all().forEach(version -> rows.add(row(version, ArrayRow.State.LOADING, holders)));
        Set<String> known = new HashSet<>();
        rows.forEach(row -> known.add(row.name()));
        for (Ingest load : loads.running()) {
            load.datasets().stream().filter(known::add).forEach(dataset -> rows.add(loading(dataset, load)));
        }
        for (Registration registration : residency.registrations()) {
            if (known.add(registration.dataset())) {
                rows.add(registered(registration));
            }
        }
        rows.sort(Comparator.comparing(DatasetRow::name));
        residency.retired().forEach(version -> rows.add(row(version, ArrayRow.State.RETIRED, holders)));
        return rows;
    }

    private DatasetRow row(PublishedVersion version, ArrayRow.State state, Map<Path, List<Long>> holders) {
        List<Long> pids = holders.getOrDefault(version.folder(), List.of());
        return new DatasetRow(
                version.dataset(),
                version.version(),
                version.digest(),
                state,
                version.arrays().size(),
                version.dataBytes(),
                version.storedBytes(),
                store.isPinned(version),
                pids.stream().filter(pid -> pid != OWN_PID).toList(),
                holders.containsKey(version.folder()),
                version.isSourced(),
                version.origins(),
                Instant.ofEpochMilli(residency.lastUseMs(version)),
                Duration.ofMillis(version.provenance().ttlMs()));
    }

    private static DatasetRow loading(String dataset, Ingest load) {
        return new DatasetRow(
                dataset,
                0,
                "",
                ArrayRow.State.LOADING,
                load.arrays().stream()
                        .filter(array -> array.name().dataset().equals(dataset))
                        .count(),
                load.arrays().stream()
                        .filter(array -> array.name().dataset().equals(dataset))
                        .mapToLong(array -> array.byteSize())
                        .sum(),
                0,
                false,
                List.of(),
                false,
                false,
                List.of(),
                Instant.EPOCH,
                Duration.ZERO);
    }

    private static DatasetRow registered(Registration known) {
        return new DatasetRow(
                known.dataset(),
                known.version(),
                known.digest(),
                ArrayRow.State.REGISTERED,
                0,
                known.dataBytes(),
                0,
                false,
                List.of(),
                false,
                true,
                known.provenance().origins(),
                Instant.EPOCH,
                Duration.ofMillis(known.provenance().ttlMs()));
    }

    /** Returns the progress of each running load, build or check that ends with a version. */
    public List<Progress> loads() {
        return loads.running().stream()
                .map(Ingest::soFar)
                .sorted(Comparator.comparing(Progress::name))
                .toList();
    }

    /** Returns the recorded errors, one for each kind, the most recent one last. */
    public List<ErrorRow> errors() {
        return errors.entries().stream()
                .map(entry ->
                        new ErrorRow(entry.count(), entry.first(), entry.last(), entry.message(), entry.stackTrace()))
                .toList();
    }
}
