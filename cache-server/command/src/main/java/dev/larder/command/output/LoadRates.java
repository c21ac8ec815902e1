package dev.larder.command.output;

import dev.larder.internal.protocol.Progress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Computes the rates of loads from two samples. Not thread-safe. */
public final class LoadRates {
    private final LongSupplier nanoClock;
    private final Map<String, Rate> rates = new HashMap<>();

    /** Creates an object without samples. */
    public LoadRates() {
        this(System::nanoTime);
    }

    LoadRates(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Returns a row for each load, and forgets loads that have ended. */
    public List<LoadRow> rows(List<Progress> loads) {
        Set<String> names = loads.stream().map(Progress::name).collect(Collectors.toSet());
        rates.keySet().retainAll(names);
        return loads.stream().map(this::row).toList();
    }

    private LoadRow row(Progress load) {
        Rate rate = rates.computeIfAbsent(load.name(), name -> new Rate(nanoClock));
        rate.update(load);
        return new LoadRow(load, rate.bytesPerSecond(), rate.etaSeconds());
    }
}
