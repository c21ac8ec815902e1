package dev.larder.command.doctor;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/** The limit of memory that the daemon's control group has: what lies in a tmpfs counts. */
final class MemoryLimitCheck implements Check {
    private static final String GROUPS = "/sys/fs/cgroup";
    private static final long UNLIMITED = 1L << 60;

    @Override
    public String name() {
        return "memory-limit";
    }

    /** The limit of a group, and the file that it stands in. */
    private record Limit(Path group, String name, long bytes) {
        Path file() {
            return group.resolve(name);
        }
    }

    @Override
    public Finding look(Machine machine) {
        Optional<Limit> limit = tightest(machine);
        String charged =
                "pages are charged to the group of whoever touches them first: to the daemon's for what it loads,"
                        + " not to the readers'";
        if (limit.isEmpty()) {
            return Finding.ok(name(), "none; " + charged);
        }
        String found = "limit=" + machine.size(limit.get().bytes()) + " file="
                + limit.get().file() + "; " + charged;
        long mountBytes = machine.probes().space(machine.storePlace()).totalBytes();
        return limit.get().bytes() < mountBytes
                ? Finding.warning(name(), found + ". It ends before the mount is full", remedy(limit.get()))
                : Finding.ok(name(), found);
    }

    private static String remedy(Limit limit) {
        String unit = String.valueOf(limit.group().getFileName());
        if (unit.endsWith(".service") || unit.endsWith(".scope") || unit.endsWith(".slice")) {
            return "systemctl set-property " + unit + " MemoryMax=infinity (as root)";
        }
        return "echo max > " + limit.file() + " (as root; a container is started with --memory)";
    }

    private static Optional<Limit> tightest(Machine machine) {
        Optional<Limit> tightest = Optional.empty();
        for (String line : machine.lines("/proc/self/cgroup")) {
            String[] parts = line.split(":", 3);
            boolean isUnified = line.startsWith("0::");
            if (parts.length == 3 && (isUnified || parts[1].equals("memory"))) {
                String top = isUnified ? GROUPS : GROUPS + "/memory";
                String file = isUnified ? "memory.max" : "memory.limit_in_bytes";
                tightest = tighter(
                        machine, tightest, Path.of(top), Path.of(top + parts[2]).normalize(), file);
            }
        }
        return tightest;
    }

    private static Optional<Limit> tighter(
            Machine machine, Optional<Limit> found, Path top, Path deepest, String name) {
        Optional<Limit> tightest = found;
        for (Path group = deepest; group != null && group.startsWith(top); group = group.getParent()) {
            OptionalLong bytes = machine.number(group.resolve(name).toString()); // "max" is no number
            if (bytes.isPresent()
                    && bytes.getAsLong() < tightest.map(Limit::bytes).orElse(UNLIMITED)) {
                tightest = Optional.of(new Limit(group, name, bytes.getAsLong()));
            }
        }
        return tightest;
    }
}
