package dev.larder.server.http;

import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.List;

/** A metric that shows one counter, or one counter for each value of a label. */
record Family(String name, String help, boolean isTotal, String label, List<Series> series) {
    /** A value of the label, and its counter. */
    record Series(String value, Counter counter) {}

    /** Returns a metric that rises and falls. */
    static Family gauge(String name, String help, Counter counter) {
        return new Family(name, help, false, "", List.of(new Series("", counter)));
    }

    /** Returns a metric that only grows; its name gets the suffix {@code _total}. */
    static Family total(String name, String help, Counter counter) {
        return new Family(name, help, true, "", List.of(new Series("", counter)));
    }

    /** Returns a metric that only grows, with one value for each label. */
    static Family totals(String name, String help, String label, Series... series) {
        return new Family(name, help, true, label, List.of(series));
    }

    MetricSnapshot snapshot(Counters counters) {
        return isTotal ? totalsOf(counters) : gaugesOf(counters);
    }

    private CounterSnapshot totalsOf(Counters counters) {
        CounterSnapshot.Builder snapshot = CounterSnapshot.builder().name(name).help(help);
        for (Series one : series) {
            snapshot.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(labels(one))
                    .value((double) counters.value(one.counter()))
                    .build());
        }
        return snapshot.build();
    }

    private GaugeSnapshot gaugesOf(Counters counters) {
        GaugeSnapshot.Builder snapshot = GaugeSnapshot.builder().name(name).help(help);
        for (Series one : series) {
            snapshot.dataPoint(GaugeDataPointSnapshot.builder()
                    .labels(labels(one))
                    .value((double) counters.value(one.counter()))
                    .build());
        }
        return snapshot.build();
    }

    private Labels labels(Series one) {
        return label.isEmpty() ? Labels.EMPTY : Labels.of(label, one.value());
    }
}
