package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.posix.Posix;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tests of {@code ops/python/larder.py}, which say what they test by themselves. */
@ExtendWith(LeavesNothingBehind.class)
class PythonTest {
    private static final Path TESTS =
            Path.of("../../ops/python").toAbsolutePath().normalize();
    private static final int PATIENCE_S = 300;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsStoresThatAnotherImplementationOfTheFormatWrote(String python) throws Exception {
        assertThat(run(new ProcessBuilder(words(python, "test_larder")))).endsWith("OK");
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void whatNumpyComputesFromStoredArraysIsOrdinaryAndWhatItOnlyViewsStaysLeased(String python) throws Exception {
        assertThat(run(new ProcessBuilder(words(python, "test_arrays")))).endsWith("OK");
    }

    @Test
    void lookUpsInAnIndexCostForkedWorkersNoMemory() throws Exception {
        assertThat(run(new ProcessBuilder(words("python3", "test_columns_memory"))))
                .endsWith("OK");
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsBatchesThatAnotherImplementationOfTheFormatPublishes(String python) throws Exception {
        assertThat(run(new ProcessBuilder(words(python, "test_batches")))).endsWith("OK");
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void pythonReadsLoadsAndBuildsWithADaemon(String python) throws Exception {
        try (CommandProcess daemon = CommandProcess.serve()) {
            ProcessBuilder tests = new ProcessBuilder(words(python, "test_with_daemon"));
            tests.environment().put("LARDER_TEST_STORE", daemon.store().toString());
            tests.environment()
                    .put("LARDER_COMMAND", CommandProcess.script(folder).toString());

            assertThat(run(tests)).endsWith("OK");

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

            assertThat(run(tests)).endsWith("OK");
        }
    }

    @Test
    void aUserWithoutANameHasTheSameStoreInJavaAndPython() throws Exception {
        assumeTrue(Posix.system().userId() == 0, "only root can become somebody else");
        words("/usr/bin/python3", "none"); // numpy where others may read it
        try (OtherUser nameless = OtherUser.nameless(23456)) {
            String java = nameless.larder("status");
            String python = nameless.run("/usr/bin/python3", "-B", "-c", """
                    import sys
                    sys.path.insert(0, %s)
                    import larder
                    print(larder._location())""".formatted("'" + TESTS + "'"));

            assertThat(python.strip()).isIn("/dev/shm/larder-23456", "/dev/shm/larder");
            assertThat(java).contains("store=" + python.strip() + ";");
            assertThat(nameless.larder("doctor")).contains("larder-23456"); // with the native library
            assertThat(nameless.leftBehind()).isEmpty();
        }
    }

    private static List<String> words(String python, String module) throws Exception {
        ProcessBuilder probe = new ProcessBuilder(python, "-c", "import numpy");
        assumeTrue(succeeds(probe), "needs numpy for " + python);
        return List.of(python, "-B", "-X", "utf8", "-W", "error", "-m", "unittest", module);
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
