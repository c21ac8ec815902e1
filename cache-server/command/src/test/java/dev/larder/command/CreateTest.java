package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Other programs build datasets through the command. */
class CreateTest {
    @Test
    void whatAProgramWritesIsPublishedWhenItSaysSo() {
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess create = CommandProcess.onStore(daemon.store(), "create", "made")) {
            Samples.vector(folderOf(create), "v", 1_000);

            create.say("publish").awaitOut("published version 1");

            assertThat(create.exitCode()).isZero();
            assertThat(daemon.ask("ls").lines()).element(1).asString().startsWith("made/v");
            assertThat(daemon.ask("create", "made").out()).isEqualTo("resident\n");
        }
    }

    @Test
    void aProgramThatEndsWithoutPublishingMakesRoomForTheNext() {
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess first = CommandProcess.onStore(daemon.store(), "create", "made")) {
            folderOf(first);
            try (CommandProcess second = CommandProcess.onStore(daemon.store(), "create", "made")) {
                first.hangUp();

                Samples.vector(folderOf(second), "v", 10);
                assertThat(second.say("publish").exitCode()).isZero();
            }
            assertThat(first.exitCode()).isEqualTo(130);
            assertThat(first.err()).contains("build was abandoned");
        }
    }

    @Test
    void aProgramThatAsksForRoomHasWhatMayLeaveEvicted(@TempDir Path sources) {
        Samples.vector(sources, "v", 4 << 20);
        try (CommandProcess daemon = CommandProcess.serve("--capacity", "6m")) {
            assertThat(daemon.ask("load", "v=" + sources).code()).isZero();
            try (CommandProcess create = CommandProcess.onStore(daemon.store(), "create", "made")) {
                Samples.vector(folderOf(create), "w", 1_000);

                create.say("room 5242880").awaitOut("\nmade\n");

                assertThat(daemon.ask("ls", "--all").out()).contains("registered");
                assertThat(create.say("publish").exitCode()).isZero();
                assertThat(create.err()).contains("evicted to make room: datasets=v");
            }
            assertThat(daemon.ask("create", "--size", "7m", "more").code()).isEqualTo(5);
        }
    }

    @Test
    void aKilledProgramMakesRoomForTheNext() {
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess first = CommandProcess.onStore(daemon.store(), "create", "made")) {
            folderOf(first);
            first.signal("KILL");

            try (CommandProcess second = CommandProcess.onStore(daemon.store(), "create", "made")) {
                Samples.vector(folderOf(second), "v", 10);
                assertThat(second.say("publish").exitCode()).isZero();
            }
        }
    }

    @Test
    void aKilledProgramMakesRoomForTheNextThoughItsChildLives(@TempDir Path folder) throws Exception {
        String script = """
                import os, subprocess, sys
                words = [sys.argv[1], '--store', sys.argv[2], 'create', 'made']
                child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                child.stdout.readline()
                if os.fork():
                    print('building', flush=True)
                sys.stdin.read()
                """;
        try (CommandProcess daemon = CommandProcess.serve()) {
            Process builder = new ProcessBuilder(
                            "python3",
                            "-c",
                            script,
                            CommandProcess.script(folder).toString(),
                            daemon.store().toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            assertThat(builder.inputReader().readLine()).isEqualTo("building");
            Processes.signal("KILL", builder.pid());

            try (CommandProcess second = CommandProcess.onStore(daemon.store(), "create", "made")) {
                Samples.vector(folderOf(second), "v", 10);
                assertThat(second.say("publish").exitCode()).isZero();
            } finally {
                builder.getOutputStream().close(); // which its child waits for
            }
        }
    }

    @Test
    void aPartOfAColumnMustBeThereAndHaveAKnownName() {
        try (CommandProcess daemon = CommandProcess.serve()) {
            assertThat(answer(daemon, "part scene/slots index_slots")).isEqualTo(6);
            assertThat(answer(daemon, "part scene/slots no_such_part")).isEqualTo(2);
            assertThat(answer(daemon, "anything")).isEqualTo(2);
        }
    }

    private static int answer(CommandProcess daemon, String line) {
        try (CommandProcess create = CommandProcess.onStore(daemon.store(), "create", "made")) {
            Samples.vector(folderOf(create), "v", 10);
            return create.say(line, "publish").exitCode();
        }
    }

    @Test
    void whoWaitsTooLongIsTold() {
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess first = CommandProcess.onStore(daemon.store(), "create", "made")) {
            folderOf(first);

            Answer late = daemon.ask("create", "made", "--timeout", "1s");

            assertThat(late.code()).isEqualTo(9);
            assertThat(late.err()).contains("another process is still building the dataset: dataset=made");
        }
    }

    @Test
    void anArrayOnStandardInputBecomesADatasetOfItsOwn(@TempDir Path folder) {
        Path source = Samples.vector(folder, "v", 1_000);
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess load = CommandProcess.onStore(daemon.store(), "load", "piped=-")) {
            load.feed(source).hangUp();

            assertThat(load.exitCode()).isZero();
            assertThat(daemon.ask("ls").lines()).element(1).asString().startsWith("piped/data");
            assertThat(daemon.ask("verify", "piped").code()).isZero();
        }
    }

    @Test
    void anArrayOnStandardInputIsPinnedToo(@TempDir Path folder) {
        Path source = Samples.vector(folder, "v", 1_000);
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess load = CommandProcess.onStore(daemon.store(), "load", "piped=-", "--pin")) {
            load.feed(source).hangUp();

            assertThat(load.exitCode()).isZero();
            assertThat(daemon.ask("info", "piped/data", "--json").out()).contains("\"pinned\": true");
        }
    }

    @Test
    void optionsThatSayHowFilesAreReadAreRefusedForAnArrayOnStandardInput(@TempDir Path folder) {
        Path source = Samples.vector(folder, "v", 1_000);
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess load = CommandProcess.onStore(
                        daemon.store(), "load", "piped=-", "--in-place", "--keys", "a", "--as", "ragged")) {
            load.feed(source).hangUp();

            assertThat(load.exitCode()).isEqualTo(2);
            assertThat(load.err()).contains("takes no options: name=piped options=[--columns, --as, --in-place]");
        }
    }

    @Test
    void anArrayThatBreaksOffLeavesNothing(@TempDir Path folder) throws IOException {
        Path source = Samples.vector(folder, "v", 1_000);
        Files.write(source, Arrays.copyOf(Files.readAllBytes(source), 500));
        try (CommandProcess daemon = CommandProcess.serve();
                CommandProcess load = CommandProcess.onStore(daemon.store(), "load", "piped=-")) {
            load.feed(source).hangUp();

            assertThat(load.exitCode()).isEqualTo(6);
            assertThat(load.err()).contains("data does not fit its header");
            assertThat(daemon.ask("ls", "--json").out()).isEqualTo("[]\n");
        }
    }

    private static Path folderOf(CommandProcess create) {
        String line = create.awaitOut("build ").out().lines().findFirst().orElseThrow();
        return Path.of(line.substring("build ".length()));
    }
}
