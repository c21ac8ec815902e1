package dev.larder.command.output;

import dev.larder.internal.protocol.Progress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Follows loads from look to look: two looks tell how fast one goes. Used by one thread at a time. */
public final class LoadRates {
    private final LongSupplier nanoClock;
    private final Map<String, Rate> rates = new HashMap<>();

    /** Begins to follow. */
    public LoadRates() {
        this(System::nanoTime);
    }

    LoadRates(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Takes a look at all loads under way, and forgets those that have ended. */
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
