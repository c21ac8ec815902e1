package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Runs the tests of {@code ops/python}, which say what they test by themselves. */
final class PythonModules {
    static final Path TESTS = Path.of("../../ops/python").toAbsolutePath().normalize();
    private static final int PATIENCE_S = 300;

    /** The latter where all were skipped, on some Pythons. */
    private static final Pattern PASSED =
            Pattern.compile("(?s).*\\n(OK( \\(skipped=\\d+\\))?|NO TESTS RAN \\(skipped=\\d+\\))");

    private static final Pattern SKIPPED = Pattern.compile("(?m)^.* \\.\\.\\. skipped ['\"](.*)['\"]$");

    private static final Map<String, Boolean> HAS_NUMPY = new ConcurrentHashMap<>();

    private PythonModules() {}

    /** Runs a module of tests, and fails where one of them did; where some were skipped, so is this. */
    static void requirePassed(String python, String module, Path folder, Map<String, String> environment)
            throws Exception {
        requireNumpy(python);
        List<String> words = List.of(python, "-B", "-X", "utf8", "-W", "error", "-m", "unittest", "-v", module);
        ProcessBuilder tests = new ProcessBuilder(words);
        tests.environment().putAll(environment);
        requirePassed(run(tests, folder.resolve("output")));
    }

    static void requireNumpy(String python) {
        assumeTrue(HAS_NUMPY.computeIfAbsent(python, PythonModules::hasNumpy), "needs numpy for " + python);
    }

    private static void requirePassed(String output) {
        assertThat(output).matches(PASSED);
        String reasons = SKIPPED.matcher(output)
                .results()
                .map(skipped -> skipped.group(1))
                .distinct()
                .collect(Collectors.joining("; "));
        assumeTrue(reasons.isEmpty(), reasons);
    }

    private static boolean hasNumpy(String python) {
        try {
            return new ProcessBuilder(python, "-c", "import numpy")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException absent) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String run(ProcessBuilder tests, Path output) throws Exception {
        Process process = tests.directory(TESTS.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        return Files.readString(output, StandardCharsets.UTF_8).strip();
    }
}
