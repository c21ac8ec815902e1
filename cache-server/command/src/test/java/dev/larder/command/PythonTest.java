package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.testing.OtherUser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tests of {@code ops/python}, which say what they test by themselves. */
class PythonTest {
    private static final Path TESTS =
            Path.of("../../ops/python").toAbsolutePath().normalize();
    private static final int PATIENCE_S = 300;
    private static final Pattern PASSED = Pattern.compile("(?s).*\\nOK( \\(skipped=\\d+\\))?");
    private static final Pattern SKIPPED = Pattern.compile("(?m)^.* \\.\\.\\. skipped ['\"](.*)['\"]$");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsStoresThatAnotherImplementationOfTheFormatWrote(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_larder"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void whatNumpyComputesFromStoredArraysIsOrdinaryAndWhatItOnlyViewsStaysLeased(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_arrays"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonLoadsBatchesInTheOrderAndWithTheStatesOfJava(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_loader"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void whatFunctionsReturnIsComputedOnce(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_calls"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pyTorchReadsDatasetsWhereItIsThere(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_torch"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void huggingFaceReadsAndKeepsDatasetsWhereItIsThere(String python) throws Exception {
        requirePassedWithADaemon(python, "test_hf");
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void otherLibrariesUseArraysWhereTheyAreThere(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_frameworks"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void theOneFileThatIsMadeOfThePackageIsAsGoodAsIt(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_one_file"))));
    }

    @Test
    void lookUpsInAnIndexCostForkedWorkersNoMemory() throws Exception {
        requirePassed(run(new ProcessBuilder(words("python3", "test_columns_memory"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsBatchesThatAnotherImplementationOfTheFormatPublishes(String python) throws Exception {
        requirePassed(run(new ProcessBuilder(words(python, "test_batches"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsLoadsAndBuildsWithADaemon(String python) throws Exception {
        requirePassedWithADaemon(python, "test_with_daemon");
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonStartsFeedsThatEndWithIt(String python) throws Exception {
        requirePassedWithADaemon(python, "test_feed");
    }

    private void requirePassedWithADaemon(String python, String module) throws Exception {
        try (CommandProcess daemon = CommandProcess.serve()) {
            ProcessBuilder tests = new ProcessBuilder(words(python, module));
            tests.environment().put("LARDER_TEST_STORE", daemon.store().toString());
            tests.environment()
                    .put("LARDER_COMMAND", CommandProcess.script(folder).toString());

            requirePassed(run(tests));

            assertThat(daemon.err()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void unchangedProgramsReadCachedArraysInThePlaceOfTheirFiles(String python) throws Exception {
        try (CommandProcess daemon = CommandProcess.serve()) {
            ProcessBuilder tests = new ProcessBuilder(words(python, "test_redirect"));
            tests.environment().put("LARDER_TEST_STORE", daemon.store().toString());
            tests.environment()
                    .put("LARDER_COMMAND", CommandProcess.script(folder).toString());

            requirePassed(run(tests));
        }
    }

    @Test
    void aUserWithoutANameHasTheSameStoreInJavaAndPython() throws Exception {
        OtherUser.assumePossible();
        words("/usr/bin/python3", "none"); // numpy where others may read it
        try (OtherUsersCommand nameless = new OtherUsersCommand(new OtherUser(23456, 23456))) {
            String java = nameless.larder("status");
            String python = nameless.run("/usr/bin/python3", "-B", "-c", """
                    import sys
                    sys.path.insert(0, %s)
                    import larder
                    print(larder._store._location())""".formatted("'" + TESTS + "'"));

            assertThat(python.strip()).isIn("/dev/shm/larder-23456", "/dev/shm/larder");
            assertThat(java).contains("no daemon at the store: store=" + python.strip() + " reason=");
            assertThat(nameless.larder("doctor")).contains("larder-23456"); // with the native library
            assertThat(nameless.leftBehind()).isEmpty();
        }
    }

    private static List<String> words(String python, String module) throws Exception {
        ProcessBuilder probe = new ProcessBuilder(python, "-c", "import numpy");
        assumeTrue(succeeds(probe), "needs numpy for " + python);
        return List.of(python, "-B", "-X", "utf8", "-W", "error", "-m", "unittest", "-v", module);
    }

    /** Fails where a test in Python did, and names those that were skipped, without root for example, as skipped here. */
    private static void requirePassed(String output) {
        assertThat(output).matches(PASSED);
        String reasons = SKIPPED.matcher(output)
                .results()
                .map(skipped -> skipped.group(1))
                .distinct()
                .collect(Collectors.joining("; "));
        assumeTrue(reasons.isEmpty(), reasons);
    }

    private static boolean succeeds(ProcessBuilder probe) throws InterruptedException {
        try {
            return probe.redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException absent) {
            return false;
        }
    }

    private String run(ProcessBuilder tests) throws Exception {
        Path output = folder.resolve("output");
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
