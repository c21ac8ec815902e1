package dev.larder.command.doctor;

import dev.larder.server.store.StoreReport;
import dev.larder.server.store.StoreReport.State;
import java.util.List;
import java.util.stream.Collectors;

/** Whether dead daemons left stores. */
final class LeftoversCheck implements Check {
    @Override
    public String name() {
        return "leftovers";
    }

    @Override
    public Finding look(Machine machine) {
        List<StoreReport> dead = machine.probes().leftovers(machine.store()).stream()
                .filter(report -> report.state() == State.DEAD)
                .toList();
        if (dead.isEmpty()) {
            return Finding.ok(name(), "none");
        }
        String stores = dead.stream().map(report -> report.store().toString()).collect(Collectors.joining(","));
        long bytes = dead.stream().mapToLong(StoreReport::bytes).sum();
        return Finding.warning(
                name(), "stores of dead daemons: bytes=" + bytes + " stores=" + stores, command(machine, dead));
    }

    /** Without it gc would not look at a store of another name. */
    private static String command(Machine machine, List<StoreReport> dead) {
        boolean isNamed = dead.stream()
                .anyMatch(report -> report.store().equals(machine.store().toAbsolutePath()));
        return isNamed ? "larder gc --store " + machine.store() : "larder gc";
    }
}
