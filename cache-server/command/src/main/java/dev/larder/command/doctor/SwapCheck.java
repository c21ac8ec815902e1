package dev.larder.command.doctor;

import java.util.List;

/** Checks whether the kernel can move arrays from memory to a disk. */
final class SwapCheck implements Check {
    private static final String SWAPPINESS = "/proc/sys/vm/swappiness";
    private static final long CALM = 10;
    private static final long USUAL = 60;

    @Override
    public String name() {
        return "swap";
    }

    @Override
    public Finding look(Machine machine) {
        List<String> lines = machine.lines("/proc/swaps");
        int areas = Math.max(0, lines.size() - 1); // below a line of headings
        if (areas == 0) {
            return Finding.ok(name(), "none");
        } else if (!machine.hasStoreInMemory()) {
            return Finding.ok(name(), "areas=" + areas + ", but the store is not on a tmpfs");
        }
        long swappiness = machine.number(SWAPPINESS).orElse(USUAL);
        String found = "areas=" + areas + " vm.swappiness=" + swappiness + ": a tmpfs can be swapped out";
        return swappiness > CALM
                ? Finding.warning(
                        name(),
                        found + ", and rows are then read from a disk",
                        "sysctl -w vm.swappiness=1 (as root; or swapoff -a)")
                : Finding.info(name(), found + " when memory gets short", "swapoff -a (as root)");
    }
}
