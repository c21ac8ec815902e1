package dev.larder.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads what processor time a process has used. */
public final class ProcessTime {
    private static final double TICKS_PER_SECOND = 100;
    private static final int USER_FIELD = 11;
    private static final int SYSTEM_FIELD = 12;

    private ProcessTime() {}

    public static double seconds(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[USER_FIELD]) + Long.parseLong(fields[SYSTEM_FIELD])) / TICKS_PER_SECOND;
    }
}
