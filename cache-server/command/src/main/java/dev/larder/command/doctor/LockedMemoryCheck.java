package dev.larder.command.doctor;

import java.util.Optional;

/** Checks how much memory a process may lock: staging buffers of devices need it. */
final class LockedMemoryCheck implements Check {
    private static final long STAGING_BYTES = 64L << 20;

    @Override
    public String name() {
        return "locked-memory";
    }

    @Override
    public Finding look(Machine machine) {
        Optional<ResourceLimit> limits = ResourceLimit.of(machine, "Max locked memory");
        if (limits.isEmpty()) {
            return Finding.info(name(), "cannot be read: file=/proc/self/limits", "mount /proc");
        }
        return limits.get().softNumber() < STAGING_BYTES
                ? Finding.info(
                        name(),
                        limits.get() + ": staging buffers for devices cannot be locked; everything works without",
                        "ulimit -l unlimited (as root; or LimitMEMLOCK=infinity in the unit)")
                : Finding.ok(name(), limits.get().toString());
    }
}
