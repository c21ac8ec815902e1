package dev.larder.launch.process;

import dev.larder.internal.process.SystemTools;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Sends signals to the process group of a child by the shell's {@code kill}, because the JDK cannot send them. */
final class GroupSignal {
    private static final String SCRIPT = "group=$1; shift; for name; do kill -s \"$name\" -- \"-$group\"; done";
    private static final long PATIENCE_SECONDS = 5;

    private GroupSignal() {}

    /** Sends signals, named without SIG. Does nothing if the group is gone, or the machine cannot start a process. */
    static void send(ChildProcess child, String... names) {
        if (child.pid() <= 0 || !child.isAlive()) {
            return;
        }
        try {
            List<String> words = new ArrayList<>(
                    List.of(SystemTools.find("sh"), "-c", SCRIPT, "larder-signal", Long.toString(child.pid())));
            words.addAll(List.of(names));
            Process shell = new ProcessBuilder(words)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            shell.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (IOException noShell) {
            return; // the grace ends with SIGKILL, which needs none
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
