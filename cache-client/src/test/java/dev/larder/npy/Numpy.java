package dev.larder.npy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs scripts in a Python that has numpy: the first of those on the path and of the system. */
public final class Numpy {
    private static final List<String> CANDIDATES = List.of("python3", "/usr/bin/python3");

    private Numpy() {}

    /** Returns what the script prints; fails the test with its error output if it does not succeed. */
    public static String run(String script, String... arguments) {
        List<String> command = new ArrayList<>(List.of(Python.WITH_NUMPY, "-X", "utf8", "-c", script));
        command.addAll(List.of(arguments));
        Outcome outcome = start(command);
        if (outcome.exitCode != 0) {
            throw new AssertionError("numpy says: " + outcome.output);
        }
        return outcome.output;
    }

    private static final class Python {
        static final String WITH_NUMPY = CANDIDATES.stream()
                .filter(python -> start(List.of(python, "-c", "import numpy")).exitCode == 0)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no python3 with numpy: install it (Debian: python3-numpy)"));
    }

    private record Outcome(int exitCode, String output) {}

    private static Outcome start(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return new Outcome(-1, "no end after 60 s");
            }
            return new Outcome(process.exitValue(), output);
        } catch (IOException e) {
            return new Outcome(-1, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
