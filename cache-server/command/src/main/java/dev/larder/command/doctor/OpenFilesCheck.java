package dev.larder.command.doctor;

import java.util.Optional;

/** Checks how many files a process may open: a reader opens one for each version and one for each file that it maps. */
final class OpenFilesCheck implements Check {
    private static final long FEW = 4096;

    @Override
    public String name() {
        return "open-files";
    }

    @Override
    public Finding look(Machine machine) {
        Optional<ResourceLimit> limits = ResourceLimit.of(machine, "Max open files");
        if (limits.isEmpty()) {
            return Finding.info(name(), "cannot be read: file=/proc/self/limits", "mount /proc");
        }
        return limits.get().hardNumber() < FEW
                ? Finding.warning(
                        name(),
                        limits.get() + ": few for many arrays",
                        "ulimit -Hn 65536 (as root; or LimitNOFILE=65536 in the unit)")
                : Finding.ok(name(), limits.get() + " (JVMs and Python's larder raise soft to hard)");
    }
}
