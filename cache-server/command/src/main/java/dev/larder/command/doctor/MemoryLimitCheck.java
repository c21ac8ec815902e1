package dev.larder.command.doctor;

import dev.larder.internal.posix.MemoryGroup;
import dev.larder.internal.posix.MemoryGroup.Limit;
import java.util.Comparator;
import java.util.Optional;

/** Checks the memory limit of the daemon's control group, which includes files in a tmpfs. */
final class MemoryLimitCheck implements Check {
    @Override
    public String name() {
        return "memory-limit";
    }

    @Override
    public Finding look(Machine machine) {
        Optional<Limit> limit = tightest(machine);
        String charged =
                "pages are charged to the control group of the process that touches them first: the daemon's for"
                        + " its loads, not the readers'";
        if (limit.isEmpty()) {
            return Finding.ok(name(), "none; " + charged);
        }
        String found =
                "limit=" + machine.size(limit.get().bytes()) + " file=" + limit.get().file() + "; ";
        if (!machine.hasStoreInMemory()) {
            return Finding.ok(name(), found + "the kernel drops pages of a store on a disk to stay below it");
        }
        found += charged;
        long mountBytes = machine.probes().space(machine.storePlace()).totalBytes();
        return limit.get().bytes() < mountBytes
                ? Finding.warning(name(), found + ". It is reached before the mount is full", remedy(limit.get()))
                : Finding.ok(name(), found);
    }

    private static String remedy(Limit limit) {
        String file = String.valueOf(limit.file().getFileName());
        String unit = String.valueOf(limit.file().resolveSibling("").getFileName());
        if (unit.endsWith(".service") || unit.endsWith(".scope") || unit.endsWith(".slice")) {
            String property = file.equals("memory.high") ? "MemoryHigh" : "MemoryMax";
            return "systemctl set-property " + unit + " " + property + "=infinity (as root)";
        }
        return switch (file) {
            case "memory.stat" -> "start the container with a larger --memory";
            case "memory.limit_in_bytes" ->
                "echo -1 > " + limit.file() + " (as root; a container is started with --memory)";
            default -> "echo max > " + limit.file() + " (as root; a container is started with --memory)";
        };
    }

    private static Optional<Limit> tightest(Machine machine) {
        return MemoryGroup.own(machine.root()).stream()
                .flatMap(group -> group.andAbove().stream())
                .flatMap(group -> group.limits().stream())
                .min(Comparator.comparingLong(Limit::bytes)
                        .thenComparing(
                                limit -> limit.file().endsWith("memory.stat"))); // prefer the file that can be written
    }
}
