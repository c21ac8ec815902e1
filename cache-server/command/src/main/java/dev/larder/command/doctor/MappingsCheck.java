package dev.larder.command.doctor;

import java.util.OptionalLong;

/** Checks how many mappings a process may have: a reader has one for each file, libraries have many more. */
final class MappingsCheck implements Check {
    private static final String FILE = "/proc/sys/vm/max_map_count";
    private static final long USUAL = 65_530;

    @Override
    public String name() {
        return "mappings";
    }

    @Override
    public Finding look(Machine machine) {
        OptionalLong most = machine.number(FILE);
        if (most.isEmpty()) {
            return Finding.info(name(), "cannot be read: file=" + FILE, "mount /proc");
        }
        String found = "vm.max_map_count=" + most.getAsLong();
        return most.getAsLong() < USUAL
                ? Finding.warning(name(), found + ": fewer than usual", "sysctl -w vm.max_map_count=262144 (as root)")
                : Finding.ok(name(), found);
    }
}
