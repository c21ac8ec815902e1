package dev.larder.internal.control;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.process.TaskStat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the remedy for a daemon that does not respond. It looks up the process that holds the store's lock. */
final class SilentDaemon {
    private static final Path LOCKS = Path.of("/proc/locks");
    private static final Pattern LOCK =
            Pattern.compile("\\S+\\s+FLOCK\\s+ADVISORY\\s+WRITE\\s+(?<pid>[1-9][0-9]*)\\s+\\S+:(?<inode>[0-9]+)\\s.*");

    private SilentDaemon() {}

    /** Returns the remedy, with the daemon's pid if this pid namespace shows it. */
    static String remedy(Path store) {
        OptionalLong pid = pid(store);
        if (pid.isEmpty()) {
            return "check the daemon's process: it may be stopped or overloaded";
        }
        boolean isStopped =
                TaskStat.of(folder(pid.getAsLong())).filter(TaskStat::isStopped).isPresent();
        return isStopped
                ? "the daemon was stopped by a signal; to resume it: kill -CONT " + pid.getAsLong()
                : "the daemon may be overloaded; to look at its process: top -p " + pid.getAsLong();
    }

    /** Returns the pid of the daemon, if this pid namespace shows it. */
    static OptionalLong pid(Path store) {
        Path lock = new StoreLayout(store).lock();
        try (Stream<String> lines = Files.lines(LOCKS)) {
            Map<String, Object> file = Files.readAttributes(lock, "unix:ino", LinkOption.NOFOLLOW_LINKS);
            String inode = String.valueOf(file.get("ino"));
            return lines.map(LOCK::matcher)
                    .filter(line -> line.matches() && line.group("inode").equals(inode))
                    .map(line -> line.group("pid"))
                    .mapToLong(Long::parseLong)
                    .filter(pid -> Files.exists(folder(pid))) // an inode of another file system may have the number
                    .findFirst();
        } catch (IOException | RuntimeException unknown) {
            return OptionalLong.empty();
        }
    }

    private static Path folder(long pid) {
        return Path.of("/proc", Long.toString(pid));
    }
}
