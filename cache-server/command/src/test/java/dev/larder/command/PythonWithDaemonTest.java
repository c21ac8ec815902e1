package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.OtherUser;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tests of the Python package that need a daemon, or a user without a name. */
class PythonWithDaemonTest {
    @TempDir
    Path folder;

    @Test
    void pythonReadsLoadsAndBuildsWithADaemon() throws Exception {
        requirePassedWithADaemon("python3", "test_with_daemon");
    }

    @Tag("slow")
    @Test
    void pythonStartsFeedsThatEndWithIt() throws Exception {
        requirePassedWithADaemon("python3", "test_feed"); // which needs no other numpy than batches do
    }

    @Test
    void processesInPythonWriteOneArrayAndSurviveEachOther() throws Exception {
        requirePassedWithADaemon("python3", "test_shared");
    }

    @ParameterizedTest
    @ValueSource(strings = {"python3", "/usr/bin/python3"})
    void huggingFaceReadsAndKeepsDatasetsWhereItIsThere(String python) throws Exception {
        requirePassedWithADaemon(python, "test_hf");
    }

    @Tag("slow")
    @Test
    void unchangedProgramsReadCachedArraysInThePlaceOfTheirFiles() throws Exception {
        requirePassedWithADaemon("python3", "test_redirect");
    }

    @Tag("slow")
    @Test
    void unchangedTrainersHaveEqualLossesAndOneCopy() throws Exception {
        requirePassedWithADaemon("python3", "test_trainers");
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"test_with_daemon", "test_redirect"})
    void thePythonOfTheSystemPassesThemToo(String module) throws Exception {
        requirePassedWithADaemon("/usr/bin/python3", module);
    }

    @Test
    void aUserWithoutANameHasTheSameStoreInJavaAndPython() throws Exception {
        OtherUser.assumePossible();
        PythonModules.requireNumpy("/usr/bin/python3"); // where others may read it
        try (OtherUsersCommand nameless = new OtherUsersCommand(new OtherUser(23456, 23456))) {
            String java = nameless.larder("status");
            String python =
                    nameless.run("/usr/bin/python3", "-B", "-c", """
                    import sys
                    sys.path.insert(0, %s)
                    import larder
                    print(larder._store._location())""".formatted("'" + PythonModules.TESTS + "'"));

            assertThat(python.strip()).isIn("/dev/shm/larder-23456", "/dev/shm/larder");
            assertThat(java).contains("no daemon at the store: store=" + python.strip());
            assertThat(nameless.larder("doctor")).contains("larder-23456"); // with the native library
            assertThat(nameless.leftBehind()).isEmpty();
        }
    }

    @Test
    void aStoreThatIsClosedToAUserIsNotTakenForOneWithoutADaemon() throws Exception {
        OtherUser.assumePossible();
        PythonModules.requireNumpy("/usr/bin/python3");
        try (CommandProcess daemon = CommandProcess.serve();
                OtherUsersCommand nobody = new OtherUsersCommand(OtherUser.NOBODY)) {
            String store = daemon.store().toString();

            for (String command : List.of("ls", "clients", "stop")) {
                assertThat(nobody.larder(command, "--store", store))
                        .contains("the store belongs to another user: store=" + store);
                assertThat(nobody.larderTrusting("root", command, "--store", store))
                        .contains("the store is closed to this user: store=" + store + " owner=root user=nobody");
            }
            assertThat(nobody.run("env", "LARDER_SERVICE_USER=root", "/usr/bin/python3", "-B", "-c", """
                    import sys
                    sys.path.insert(0, %s)
                    import larder
                    try:
                        larder.open("x", store=%s)
                    except larder.Refused as e:
                        print(e)""".formatted(
                                    "'" + PythonModules.TESTS + "'", "'" + store + "'")))
                    .startsWith("the store is closed to this user: store=" + store + " owner=root user=nobody");
        }
    }

    @Test
    void aMemberOfTheGroupBuildsInPythonAndIsToldHowToLoad() throws Exception {
        OtherUser.assumePossible();
        PythonModules.requireNumpy("/usr/bin/python3");
        try (CommandProcess daemon =
                        CommandProcess.serve("--http", "0", "--group", String.valueOf(OtherUser.NOBODY.group()));
                OtherUsersCommand member = new OtherUsersCommand(OtherUser.NOBODY)) {
            String said = member.run(
                    "/usr/bin/python3",
                    "-B",
                    "-W",
                    "error",
                    "-c",
                    """
                    import os, sys
                    sys.path.insert(0, sys.argv[2])
                    os.environ.update(LARDER_STORE=sys.argv[1], LARDER_START="never")
                    import larder, numpy
                    with larder.create("built") as dataset:
                        dataset["deep/x"] = numpy.arange(1 << 18)
                        dataset["texts"] = ["a", "b"]
                    print(larder.dataset("built")["deep/x"][-1], *larder.dataset("built")["texts"], larder.wait("built", 5).version)
                    print(larder.ls("built")[0]["name"], larder.evict("built") > 0)
                    try:
                        larder.load("files", "/data")
                    except larder.Refused as e:
                        print(e)""",
                    daemon.store().toString(),
                    PythonModules.TESTS.toString());

            assertThat(said.lines())
                    .containsExactly(
                            "262143 a b 1",
                            "built/deep/x True",
                            "Python cannot load files into another user's store; a program with your rights has to read them: store="
                                    + daemon.store() + " owner=root; run larder load files=/data --store "
                                    + daemon.store()
                                    + ", then larder.dataset");
            assertThat(member.larder("status", "--store", daemon.store().toString()))
                    .contains(
                            "?token=TOKEN (for TOKEN ask the store's owner, or read the file of --http-token-file)\n");
        }
    }

    private void requirePassedWithADaemon(String python, String module) throws Exception {
        try (CommandProcess daemon = CommandProcess.serve()) {
            Map<String, String> environment = Map.of(
                    "LARDER_TEST_STORE", daemon.store().toString(),
                    "LARDER_COMMAND", CommandProcess.script(folder).toString());

            PythonModules.requirePassed(python, module, folder, environment);

            assertThat(daemon.err()).isEmpty();
        }
    }
}
