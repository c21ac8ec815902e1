package dev.larder.command.doctor;

import dev.larder.command.output.Units;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.server.store.space.Mount;
import java.util.Optional;

/** Checks that arrays get huge pages. */
final class HugePagesCheck implements Check {
    private static final String OVERRIDE = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

    @Override
    public String name() {
        return "huge-pages";
    }

    @Override
    public Finding look(Machine machine) {
        Optional<Mount> mount = machine.mount(machine.storePlace());
        if (mount.isEmpty() || !mount.get().isTmpfs()) {
            return Finding.ok(name(), "the store is not on a tmpfs");
        }
        if (machine.text(OVERRIDE).orElse("").contains("[deny]")) {
            return Finding.info(
                    name(), OVERRIDE + " denies them to every mount", "echo never > " + OVERRIDE + " (as root)");
        }
        String word = mount.get().hugePages();
        String found = "huge=" + word;
        String advise = "mount -o remount,huge=advise " + mount.get().point() + " (as root)";
        long refused = word.equals("always")
                ? 0
                : machine.probes()
                        .status(machine.store())
                        .map(DaemonStatus::hugeRefusedBytes)
                        .orElse(0L);
        if (refused > 0) {
            return Finding.info(
                    name(),
                    found + ", but the kernel had none for " + Units.size(refused)
                            + " of the store: memory is short or fragmented",
                    "free memory, raise the cgroup's limit, or: echo 1 > /proc/sys/vm/compact_memory (as root); the daemon tries again");
        }
        return switch (word) {
            case "never" ->
                machine.probes().givesHugePages()
                        ? Finding.ok(name(), found + ", but the kernel gives them on request")
                        : Finding.info(
                                name(),
                                found
                                        + ", and the kernel gives none on request (Linux 6.1 and later do): loads take about"
                                        + " three times as long, random rows up to half as long again",
                                advise);
            case "always" ->
                Finding.warning(
                        name(),
                        found + ": each file takes 2 MiB or more, even a small one; larder packs arrays below 8 MiB",
                        advise);
            default -> Finding.ok(name(), found);
        };
    }
}
