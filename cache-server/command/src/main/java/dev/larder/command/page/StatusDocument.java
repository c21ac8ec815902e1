package dev.larder.command.page;

import dev.larder.command.doctor.Examination;
import dev.larder.command.doctor.Finding;
import dev.larder.command.doctor.Machine;
import dev.larder.command.output.ClientRow;
import dev.larder.command.output.FeedRow;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.LoadRates;
import dev.larder.command.output.LoadRow;
import dev.larder.command.output.LoaderTable;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.server.Overview;
import dev.larder.server.Overview.DatasetRow;
import dev.larder.server.http.HttpAnswer;
import dev.larder.server.http.HttpQuery;
import dev.larder.server.loaders.LoaderRow;
import dev.larder.server.loaders.LoaderWatch;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.History;
import dev.larder.server.metrics.WaitTimes;
import dev.larder.server.store.lock.LeaseTable;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Writes {@code /status.json}, {@code /history.json} and {@code /arrays.json}. Samples the store a few times a second at most, for any number of clients.
 * Thread-safe.
 */
final class StatusDocument {
    private static final long LOOK_NANOS = Duration.ofMillis(400).toNanos();
    private static final long EXAMINATION_NANOS = Duration.ofMinutes(1).toNanos();
    private static final int USUAL_ROWS = 100;
    private static final int MOST_ROWS = 1_000;

    private static final Map<String, Comparator<DatasetRow>> ORDERS = Map.of(
            "name", Comparator.comparing(DatasetRow::name),
            "bytes", Comparator.comparing(DatasetRow::bytes),
            "arrays", Comparator.comparing(DatasetRow::arrays),
            "state", Comparator.comparing(row -> row.state().text()),
            "holders", Comparator.comparing(row -> row.pids().size()),
            "used", Comparator.comparing(DatasetRow::lastUse));

    private final Overview overview;
    private final Path store;
    private final LoadRates rates = new LoadRates();
    private final LoaderWatch loaders;
    private @Nullable Look latest;
    private List<Finding> findings = List.of();
    private long examinedNanos;

    StatusDocument(Overview overview, Path store) {
        this.overview = overview;
        this.store = store;
        this.loaders = new LoaderWatch(new StoreLayout(store));
        this.examinedNanos = System.nanoTime() - EXAMINATION_NANOS;
    }

    /** One sample. */
    private record Look(
            long nanos,
            DaemonStatus status,
            List<DatasetRow> datasets,
            List<LoadRow> loads,
            List<ClientRow> clients,
            List<FeedRow> feeds,
            List<FeedRow> earlierFeeds,
            List<LoaderRow> loaders,
            List<ErrorRow> errors) {}

    private synchronized Look look() {
        Look before = latest;
        if (before != null && System.nanoTime() - before.nanos < LOOK_NANOS) {
            return before;
        }
        StoreLayout layout = new StoreLayout(store);
        List<DatasetRow> datasets = overview.datasets();
        List<Path> leased = datasets.stream()
                .filter(DatasetRow::isLeased)
                .map(row -> layout.version(row.name(), row.version()))
                .toList();
        LeaseTable leases = LeaseTable.of(layout);
        List<HeldVersion> held = leases.held(leased);
        List<FeedRow> feeds = FeedRow.of(layout, held);
        Look now = new Look(
                System.nanoTime(),
                overview.status(datasets),
                datasets,
                rates.rows(overview.loads()),
                ClientRow.of(held, leases.daemonPid(), feeds),
                feeds,
                before == null ? List.of() : before.feeds,
                loaders.look(),
                overview.errors());
        latest = now;
        return now;
    }

    private synchronized List<Finding> findings() {
        if (System.nanoTime() - examinedNanos >= EXAMINATION_NANOS) {
            findings = Examination.ofCheap(Machine.here(store));
            examinedNanos = System.nanoTime();
        }
        return findings;
    }

    HttpAnswer status(HttpQuery question) {
        Look look = look();
        JsonFields document = Json.fields(look.status)
                .with("started", overview.started())
                .with("space", space(look))
                .with("counters", counters())
                .with("waits", waits())
                .with("datasets", datasets(look, question))
                .with("loads", look.loads.stream().map(LoadRow::fields).toList())
                .with("holders", look.clients.stream().map(Json::fields).toList())
                .with(
                        "feeds",
                        look.feeds.stream()
                                .map(feed -> feed.fields(look.earlierFeeds))
                                .toList())
                .with("loaders", look.loaders.stream().map(LoaderTable::fields).toList())
                .with("errors", look.errors.stream().map(Json::fields).toList())
                .with("findings", findings().stream().map(Finding::fields).toList());
        return HttpAnswer.json(Json.line(document));
    }

    /** Divides the capacity: leased and pinned versions count as leased, retired ones only as retired. */
    private JsonFields space(Look look) {
        Predicate<DatasetRow> isRetired = row -> row.state() == ArrayRow.State.RETIRED;
        Predicate<DatasetRow> isCurrent = Predicate.not(isRetired);
        long retired = stored(look, isRetired);
        long leased = stored(look, isCurrent.and(DatasetRow::isLeased));
        long pinned = stored(look, isCurrent.and(row -> row.isPinned() && !row.isLeased()));
        long unsourced = stored(look, isCurrent.and(row -> !row.isPinned() && !row.isLeased() && !row.isSourced()));
        long evictable = stored(look, isCurrent.and(row -> !row.isPinned() && !row.isLeased() && row.isSourced()));
        long used = look.status.usedBytes();
        return new JsonFields()
                .with("leasedBytes", leased)
                .with("pinnedBytes", pinned)
                .with("unsourcedBytes", unsourced)
                .with("evictableBytes", evictable)
                .with("retiredBytes", retired)
                .with("sharedBytes", Math.max(0, used - leased - pinned - unsourced - evictable - retired))
                .with("freeBytes", Math.max(0, look.status.capacityBytes() - used));
    }

    private static long stored(Look look, Predicate<DatasetRow> isMeant) {
        return look.datasets.stream()
                .filter(isMeant)
                .mapToLong(DatasetRow::storedBytes)
                .sum();
    }

    private JsonFields counters() {
        JsonFields counters = new JsonFields();
        for (Counter counter : List.of(
                Counter.ASK_HITS,
                Counter.ASK_MISSES,
                Counter.ASKS_UNKNOWN,
                Counter.ASKS_LATE,
                Counter.ASKS_FAILED,
                Counter.ASKS_LEFT,
                Counter.SAMPLED_OPENS,
                Counter.WAITING,
                Counter.LOADING,
                Counter.LOADS,
                Counter.LOAD_FAILURES,
                Counter.BUILDS,
                Counter.BUILD_FAILURES,
                Counter.EVICTIONS,
                Counter.SPACE_REFUSALS,
                Counter.PROTOCOL_ERRORS)) {
            counters.with(Json.key(counter.label()), overview.count(counter));
        }
        return counters;
    }

    private List<JsonFields> waits() {
        return WaitTimes.BARS.stream()
                .map(bar -> new JsonFields()
                        .with("toSeconds", Double.isInfinite(bar.limitSeconds()) ? null : (Number) bar.limitSeconds())
                        .with("count", overview.count(bar.counter())))
                .toList();
    }

    private static JsonFields datasets(Look look, HttpQuery question) {
        String match = question.text("match").toLowerCase(Locale.ROOT);
        List<DatasetRow> matching = new ArrayList<>(look.datasets.stream()
                .filter(row ->
                        match.isEmpty() || row.name().toLowerCase(Locale.ROOT).contains(match))
                .toList());
        Comparator<DatasetRow> order = ORDERS.get(question.text("sort"));
        if (order != null) {
            matching.sort(question.text("order").equals("desc") ? Collections.reverseOrder(order) : order);
        }
        int from = question.number("from", 0, Integer.MAX_VALUE);
        int to = Math.min(matching.size(), from + question.number("count", USUAL_ROWS, MOST_ROWS));
        List<DatasetRow> shown = from < to ? matching.subList(from, to) : List.of();
        return new JsonFields()
                .with("total", look.datasets.size())
                .with("matching", matching.size())
                .with("from", from)
                .with("rows", shown.stream().map(StatusDocument::fields).toList());
    }

    private static JsonFields fields(DatasetRow row) {
        return new JsonFields()
                .with("name", row.name())
                .with("version", row.version())
                .with("digest", row.digest())
                .with("state", row.state().text())
                .with("arrays", row.arrays())
                .with("bytes", row.bytes())
                .with("storedBytes", row.storedBytes())
                .with("pinned", row.isPinned())
                .with("leased", row.isLeased())
                .with("holders", row.pids())
                .with("lastUse", row.lastUse().equals(Instant.EPOCH) ? null : row.lastUse())
                .with("sources", row.origins())
                .with("ttlSeconds", row.ttl().isZero() ? null : row.ttl().toSeconds());
    }

    /** Returns the samples of the last minutes, one list for each figure. */
    HttpAnswer history() {
        List<History.Sample> samples = overview.history();
        return HttpAnswer.json(Json.line(new JsonFields()
                .with("epochMs", samples.stream().map(History.Sample::epochMs).toList())
                .with(
                        "usedBytes",
                        samples.stream().map(History.Sample::usedBytes).toList())
                .with(
                        "leasedBytes",
                        samples.stream().map(History.Sample::leasedBytes).toList())
                .with("askHits", samples.stream().map(History.Sample::hits).toList())
                .with("askMisses", samples.stream().map(History.Sample::misses).toList())));
    }

    /** Returns some arrays of a dataset, in the form of {@code larder ls --json}. */
    HttpAnswer arrays(HttpQuery question) {
        String dataset = question.text("dataset");
        if (dataset.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "no dataset named").remedy("/arrays.json?dataset=NAME");
        }
        List<ArrayRow> rows = overview.arrays(Names.datasetIn(dataset));
        int from = question.number("from", 0, Integer.MAX_VALUE);
        int to = Math.min(rows.size(), from + question.number("count", USUAL_ROWS, MOST_ROWS));
        return HttpAnswer.json(Json.line(new JsonFields()
                .with("dataset", dataset)
                .with("total", rows.size())
                .with("from", from)
                .with(
                        "rows",
                        from < to
                                ? rows.subList(from, to).stream()
                                        .map(Json::fields)
                                        .toList()
                                : List.of())));
    }
}
