package dev.larder.command.doctor;

import dev.larder.server.store.StoreReport;
import dev.larder.server.store.StoreReport.State;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks for stores of dead daemons. */
final class LeftoversCheck implements Check {
    @Override
    public String name() {
        return "leftovers";
    }

    @Override
    public Finding look(Machine machine) {
        List<StoreReport> dead = machine.probes().leftovers(machine.store()).stream()
                .filter(StoreReport::isOrphaned)
                .toList();
        if (dead.isEmpty()) {
            return Finding.ok(name(), "none");
        }
        String stores = dead.stream().map(report -> report.store().toString()).collect(Collectors.joining(","));
        long bytes = dead.stream().mapToLong(StoreReport::bytes).sum();
        return Finding.warning(
                name(), "stores of dead daemons: bytes=" + bytes + " stores=" + stores, command(machine, dead));
    }

    /** Names the daemon that takes over computed data first: that data has no source to load it from again. */
    private static String command(Machine machine, List<StoreReport> dead) {
        Stream<String> takeOvers = dead.stream()
                .filter(report -> report.state() == State.COMPUTED)
                .map(report ->
                        "larder serve --store " + report.store() + " (takes over computed data, which has no source)");
        Stream<String> removals = dead.stream()
                .filter(report -> report.state() == State.DEAD)
                .map(report -> removal(machine, report))
                .distinct();
        return Stream.concat(takeOvers, removals).collect(Collectors.joining("; "));
    }

    /** Names the store if it is the one of this check: without a name, gc finds only stores with default names. */
    private static String removal(Machine machine, StoreReport dead) {
        return dead.store().equals(machine.store().toAbsolutePath())
                ? "larder gc --store " + machine.store()
                : "larder gc";
    }
}
