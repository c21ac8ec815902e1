package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.LeavesNothingBehind;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Other programs build datasets through the command. */
@ExtendWith(LeavesNothingBehind.class)
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
            assertThat(first.err()).contains("build was given up");
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
            assertThat(late.err()).contains("somebody else is still building the dataset: dataset=made");
        }
    }

    private static Path folderOf(CommandProcess create) {
        String line = create.awaitOut("build ").out().lines().findFirst().orElseThrow();
        return Path.of(line.substring("build ".length()));
    }
}
