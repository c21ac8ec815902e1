package dev.larder.command.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks that other jobs see the file system of the store. Slurm's {@code job_container/tmpfs}, systemd's {@code PrivateTmp} and
 * similar features give each job its own {@code /dev/shm}.
 *
 * <p>Compares with the mounts of the first process of this pid namespace. In a container, that process belongs to the container, so
 * the check covers the container and not the host.
 */
final class MountNamespaceCheck implements Check {
    private static final Pattern LINE = Pattern.compile("\\d+ \\d+ (?<device>\\d+:\\d+) \\S+ (?<point>\\S+) .*");

    @Override
    public String name() {
        return "mount-namespace";
    }

    @Override
    public Finding look(Machine machine) {
        Path place = machine.storePlace();
        List<Mounted> first = mounts(machine, "/proc/1/mountinfo");
        Optional<Mounted> own = mounts(machine, "/proc/self/mountinfo").stream()
                .filter(mount -> place.startsWith(mount.point))
                .reduce((best, next) -> next.point.getNameCount() >= best.point.getNameCount() ? next : best);
        if (first.isEmpty() || own.isEmpty()) {
            return Finding.ok(name(), "cannot be determined: /proc/1/mountinfo is not readable");
        } else if (first.stream().anyMatch(mount -> mount.device.equals(own.get().device))) {
            return Finding.ok(name(), "pid 1 sees the store's mount too: mount=" + own.get().point);
        }
        return Finding.warning(
                name(),
                "this job has its own mount there, so other jobs do not see the store: store=" + machine.store()
                        + " mount=" + own.get().point,
                "run one larder serve in each job; to share one, name a tmpfs that all jobs see: larder serve --store"
                        + " /run/larder-shm/" + machine.user() + " (ops/docs/how-to/BATCH.md, Slurm)");
    }

    private static List<Mounted> mounts(Machine machine, String table) {
        return machine.lines(table).stream()
                .map(LINE::matcher)
                .filter(Matcher::matches)
                .map(line -> new Mounted(
                        line.group("device"), Path.of(line.group("point").replace("\\040", " "))))
                .toList();
    }

    /** A file system, by the kernel's device number, and its mount point. */
    private record Mounted(String device, Path point) {}
}
