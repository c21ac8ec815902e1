package dev.larder.command.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whether other jobs see the file system that the store lies on. Slurm's {@code job_container/tmpfs}, systemd's
 * {@code PrivateTmp} and the like give each job a {@code /dev/shm} of its own.
 *
 * <p>What is known is whether the first process of this pid namespace has that file system among its mounts; in a container that
 * process is the container's own, so nothing is said of the host.
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
                        + " /run/larder-shm/" + machine.user() + " (ops/docs/BATCH.md, Slurm)");
    }

    private static List<Mounted> mounts(Machine machine, String table) {
        return machine.lines(table).stream()
                .map(LINE::matcher)
                .filter(Matcher::matches)
                .map(line -> new Mounted(
                        line.group("device"), Path.of(line.group("point").replace("\\040", " "))))
                .toList();
    }

    /** A file system, by the kernel's number for it, and where it is mounted. */
    private record Mounted(String device, Path point) {}
}
