package dev.larder.command.terminal;

import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends a live view when q is pressed. The terminal delivers single keys without an echo until this is closed. If standard input is no
 * terminal, this does nothing.
 */
public final class QuitKey implements AutoCloseable {
    private static final int STANDARD_INPUT = 0;
    private static final int LONGEST_MS = 2_000;

    /** The settings of the terminal before this; empty if they were not changed. */
    private final String before;

    private QuitKey(String before) {
        this.before = before;
    }

    /** Runs an action on a thread of its own when q is pressed. */
    public static QuitKey watch(Runnable onQuit) {
        String before = Posix.system().isTerminal(STANDARD_INPUT) ? stty("-g") : "";
        if (!before.isEmpty()) {
            stty("-icanon", "-echo");
            Thread thread = new Thread(() -> read(onQuit), "larder-keys");
            thread.setDaemon(true);
            thread.start();
        }
        return new QuitKey(before);
    }

    private static void read(Runnable onQuit) {
        try {
            for (int key = System.in.read(); key >= 0; key = System.in.read()) {
                if (key == 'q' || key == 'Q') {
                    onQuit.run();
                }
            }
        } catch (IOException e) {
            onQuit.run(); // the terminal is gone
        }
    }

    /** Returns the output of stty, without which a terminal can be used as well; empty if it fails. */
    private static String stty(String... arguments) {
        List<String> command = new ArrayList<>(List.of("stty"));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(LONGEST_MS, TimeUnit.MILLISECONDS) && process.exitValue() == 0 ? output : "";
        } catch (IOException absent) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    /** Restores the terminal. */
    @Override
    public void close() {
        if (!before.isEmpty()) {
            stty(before);
        }
    }
}
