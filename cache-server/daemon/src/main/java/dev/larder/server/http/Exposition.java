package dev.larder.server.http;

import static dev.larder.server.http.Family.gauge;
import static dev.larder.server.http.Family.total;
import static dev.larder.server.http.Family.totals;

import dev.larder.server.http.Family.Series;
import dev.larder.server.loaders.LoaderRow;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.VersionUse;
import dev.larder.server.metrics.WaitTimes;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Supplier;

/** The exposed metrics. The table in {@code ops/docs/reference/METRICS.md} is generated from this list; a test compares the two. */
public final class Exposition implements HttpResource {
    private static final ExpositionFormats FORMATS = ExpositionFormats.init();
    private static final double MICROS_PER_SECOND = 1e6;

    private static final List<Family> FAMILIES = List.of(
            gauge("larder_capacity_bytes", "Capacity of the store.", Counter.CAPACITY_BYTES),
            gauge(
                    "larder_resident_bytes",
                    "Space of current versions (blocks, not lengths of files).",
                    Counter.RESIDENT_BYTES),
            gauge(
                    "larder_leased_bytes",
                    "Space of leased versions, current or retired; sampled.",
                    Counter.LEASED_BYTES),
            gauge("larder_pinned_bytes", "Space of pinned versions.", Counter.PINNED_BYTES),
            gauge(
                    "larder_retired_bytes",
                    "Space of versions that wait only for their last reader.",
                    Counter.RETIRED_BYTES),
            gauge("larder_datasets", "Datasets with a current version.", Counter.DATASETS),
            gauge("larder_arrays", "Arrays of current versions.", Counter.ARRAYS),
            gauge(
                    "larder_clients",
                    "Processes that hold leases, as far as the daemon's pid namespace shows them; sampled.",
                    Counter.CLIENTS),
            gauge("larder_connections", "Open connections to the control socket.", Counter.CONNECTIONS),
            gauge("larder_loading", "Running loads and builds.", Counter.LOADING),
            gauge("larder_waiting", "Clients that wait for a dataset, or for their turn to build it.", Counter.WAITING),
            total(
                    "larder_sampled_opens",
                    "Processes newly seen to lease a version; opens between two samples are missed.",
                    Counter.SAMPLED_OPENS),
            totals(
                    "larder_asks",
                    "Requests to the daemon for a dataset; opening a resident one needs no request.",
                    "outcome",
                    new Series("hit", Counter.ASK_HITS),
                    new Series("miss", Counter.ASK_MISSES),
                    new Series("unknown", Counter.ASKS_UNKNOWN),
                    new Series("late", Counter.ASKS_LATE),
                    new Series("failed", Counter.ASKS_FAILED),
                    new Series("left", Counter.ASKS_LEFT)),
            totals(
                    "larder_loads",
                    "Completed loads from sources; done also if nothing had changed.",
                    "outcome",
                    new Series("done", Counter.LOADS),
                    new Series("failed", Counter.LOAD_FAILURES)),
            totals(
                    "larder_builds",
                    "Datasets built by clients; failed also if the builder left.",
                    "outcome",
                    new Series("done", Counter.BUILDS),
                    new Series("failed", Counter.BUILD_FAILURES)),
            total("larder_evictions", "Versions removed to make room, or on request.", Counter.EVICTIONS),
            total("larder_space_refusals", "Requests that were refused for lack of space.", Counter.SPACE_REFUSALS),
            total("larder_requests", "Requests of any kind.", Counter.REQUESTS),
            total("larder_protocol_errors", "Connections that broke the protocol.", Counter.PROTOCOL_ERRORS));

    private final Counters counters;
    private final Supplier<List<VersionUse>> versions;
    private final Supplier<List<LoaderRow>> loaders;

    /** Creates the resource; {@code versions} reads the use of every version at each request, {@code loaders} the live loaders. */
    public Exposition(Counters counters, Supplier<List<VersionUse>> versions, Supplier<List<LoaderRow>> loaders) {
        this.counters = counters;
        this.versions = versions;
        this.loaders = loaders;
    }

    @Override
    public HttpAnswer answer(HttpQuery query) {
        ExpositionFormatWriter format = FORMATS.findWriter(query.accept());
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try {
            format.write(text, snapshots());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return HttpAnswer.of(format.getContentType(), text.toByteArray());
    }

    /** Returns the present values. */
    public MetricSnapshots snapshots() {
        List<VersionUse> uses = versions.get();
        List<LoaderRow> rows = loaders.get();
        MetricSnapshots.Builder snapshots = MetricSnapshots.builder();
        FAMILIES.forEach(family -> snapshots.metricSnapshot(family.snapshot(counters)));
        return snapshots
                .metricSnapshot(waits())
                .metricSnapshot(bytes(uses))
                .metricSnapshot(clients(uses))
                .metricSnapshot(batches(rows))
                .metricSnapshot(shares(rows))
                .metricSnapshot(bottlenecks(rows))
                .build();
    }

    private HistogramSnapshot waits() {
        double[] limits =
                WaitTimes.BARS.stream().mapToDouble(WaitTimes.Bar::limitSeconds).toArray();
        long[] counts = WaitTimes.BARS.stream()
                .mapToLong(bar -> counters.value(bar.counter()))
                .toArray();
        return HistogramSnapshot.builder()
                .name("larder_wait_seconds")
                .help("Time that clients waited for datasets that were not resident, for all outcomes.")
                .dataPoint(HistogramDataPointSnapshot.builder()
                        .classicHistogramBuckets(ClassicHistogramBuckets.of(limits, counts))
                        .sum(counters.value(Counter.WAIT_MICROS) / MICROS_PER_SECOND)
                        .build())
                .build();
    }

    private static GaugeSnapshot bytes(List<VersionUse> uses) {
        GaugeSnapshot.Builder snapshot =
                GaugeSnapshot.builder().name("larder_version_bytes").help("Space of a version.");
        uses.forEach(use -> snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(labels(use))
                .value((double) use.storedBytes())
                .build()));
        return snapshot.build();
    }

    private static GaugeSnapshot clients(List<VersionUse> uses) {
        GaugeSnapshot.Builder snapshot =
                GaugeSnapshot.builder().name("larder_version_clients").help("Processes that lease a version; sampled.");
        uses.forEach(use -> snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(labels(use))
                .value(use.pids().size())
                .build()));
        return snapshot.build();
    }

    private static CounterSnapshot batches(List<LoaderRow> rows) {
        CounterSnapshot.Builder snapshot = CounterSnapshot.builder()
                .name("larder_loader_batches")
                .help("Batches that the trainer of a loader has taken.");
        rows.forEach(row -> snapshot.dataPoint(CounterDataPointSnapshot.builder()
                .labels(labels(row))
                .value((double) row.batches())
                .build()));
        return snapshot.build();
    }

    private static GaugeSnapshot shares(List<LoaderRow> rows) {
        GaugeSnapshot.Builder snapshot = GaugeSnapshot.builder()
                .name("larder_loader_share")
                .help(
                        "Share of the time of a loader's trainer by cause, since the last request; trainer: it does not wait.");
        for (LoaderRow row : rows) {
            row.bottleneck()
                    .shares()
                    .forEach((cause, share) -> snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                            .labels(labels(row).add("cause", cause.key()))
                            .value(share)
                            .build()));
        }
        return snapshot.build();
    }

    private static GaugeSnapshot bottlenecks(List<LoaderRow> rows) {
        GaugeSnapshot.Builder snapshot = GaugeSnapshot.builder()
                .name("larder_loader_bottleneck")
                .help("1: the cause that limits a loader, and the setting to change.");
        rows.forEach(row -> snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(labels(row)
                        .add("cause", row.bottleneck().cause().key())
                        .add("advice", row.bottleneck().remedy()))
                .value(1)
                .build()));
        return snapshot.build();
    }

    private static Labels labels(LoaderRow row) {
        return Labels.of(
                "dataset", row.dataset(),
                "feed", row.feed(),
                "loader", row.id(),
                "pid", Long.toString(row.pid()),
                "program", row.program());
    }

    private static Labels labels(VersionUse use) {
        return Labels.of(
                "dataset",
                use.dataset(),
                "state",
                use.isRetired() ? "retired" : "resident",
                "version",
                Long.toString(use.version()));
    }
}
