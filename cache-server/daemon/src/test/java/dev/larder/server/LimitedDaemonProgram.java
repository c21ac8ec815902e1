package dev.larder.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A daemon that enters a control group before it does anything else. */
final class LimitedDaemonProgram {
    private LimitedDaemonProgram() {}

    /** Takes the folder of the group, and what {@link DaemonProgram} takes. */
    public static void main(String[] arguments) throws IOException {
        Files.writeString(
                Path.of(arguments[0]).resolve("cgroup.procs"),
                Long.toString(ProcessHandle.current().pid()));
        DaemonProgram.main(Arrays.copyOfRange(arguments, 1, arguments.length));
    }
}
