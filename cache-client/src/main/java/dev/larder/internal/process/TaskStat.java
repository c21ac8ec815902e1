package dev.larder.internal.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Facts about a process or a thread, read from {@code /proc}.
 *
 * @param state the kernel's letter; {@code D} if it waits for a disk
 * @param majorFaults the page faults that read from a disk
 * @param cpuTicks the processor time that it used, in hundredths of a second
 * @param startTicks when it started, in ticks since the boot; its id and start identify it
 */
public record TaskStat(char state, long majorFaults, long cpuTicks, long startTicks) {
    // positions in the file, counted from the state
    private static final int MAJOR_FAULTS = 9;
    private static final int CPU_USER = 11;
    private static final int CPU_SYSTEM = 12;
    private static final int START = 19;

    /** Reads the facts of this process. */
    public static Optional<TaskStat> ofThisProcess() {
        return of(Path.of("/proc/self"));
    }

    /** Reads the facts of the process with this pid and start; empty if it has ended, or if this pid namespace does not show it. */
    public static Optional<TaskStat> of(long pid, long startTicks) {
        return of(Path.of("/proc", Long.toString(pid))).filter(stat -> stat.startTicks == startTicks);
    }

    /** Returns whether the process was stopped by a signal or a debugger. */
    public boolean isStopped() {
        return state == 'T' || state == 't';
    }

    /** Reads the facts of a folder in {@code /proc}; empty if the process or thread does not exist. */
    public static Optional<TaskStat> of(Path folder) {
        try {
            String stat = Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
            return Optional.of(new TaskStat(
                    fields[0].charAt(0),
                    Long.parseLong(fields[MAJOR_FAULTS]),
                    Long.parseLong(fields[CPU_USER]) + Long.parseLong(fields[CPU_SYSTEM]),
                    Long.parseLong(fields[START])));
        } catch (IOException | IndexOutOfBoundsException | NumberFormatException gone) {
            return Optional.empty();
        }
    }
}
