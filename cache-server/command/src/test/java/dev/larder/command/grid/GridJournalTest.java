package dev.larder.command.grid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonParser;
import dev.larder.command.grid.GridJournal.Begun;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.launch.grid.Axis;
import dev.larder.launch.grid.GridPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GridJournalTest {
    private static final Begun BEGUN = new Begun(
            new GridPlan(List.of(new Axis("x", List.of("ü\n\"", ""))), List.of("t", "{x}")),
            Path.of("/work"),
            "0,2",
            3);

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("journal");
    }

    private void writeTwoJobs() {
        try (GridJournal journal = GridJournal.open(folder)) {
            journal.begin(BEGUN);
            journal.started(1, "0", "now");
            JobRecord end = new JobRecord(
                    JobState.DONE, 1, "0", 0, "done", Duration.ofMillis(12), JsonParser.parseString("{\"a\": 1e-3}"));
            journal.ended(1, end);
            journal.started(2, "1", "now");
        }
    }

    private void requireTwoJobs(GridJournal journal) {
        assertThat(journal.begun()).isEqualTo(BEGUN);
        assertThat(journal.record(1).state()).isEqualTo(JobState.DONE);
        assertThat(journal.record(1).result()).hasToString("{\"a\":1e-3}");
        assertThat(journal.record(1).ran()).isEqualTo(Duration.ofMillis(12));
        assertThat(journal.record(2).state()).isEqualTo(JobState.RUNNING);
        assertThat(journal.record(2).attempts()).isEqualTo(1);
        assertThat(journal.record(3)).isEqualTo(JobRecord.NEW);
    }

    @Test
    void whatWasWrittenIsReadAgain() {
        writeTwoJobs();

        try (GridJournal journal = GridJournal.open(folder)) {
            requireTwoJobs(journal);
        }
    }

    @Test
    void aLineThatIsTornAnywhereIsDroppedAndTheNextOneIsWhole() throws IOException {
        writeTwoJobs();
        byte[] whole = Files.readAllBytes(file());
        String torn = "{\"event\":\"end\",\"job\":2,\"state\":\"done\"";
        for (int length = 1; length <= torn.length(); length++) {
            Files.write(file(), whole);
            Files.writeString(file(), torn.substring(0, length), StandardOpenOption.APPEND);

            try (GridJournal journal = GridJournal.open(folder)) {
                requireTwoJobs(journal);
                journal.started(3, "0", "now");
            }
            try (GridJournal journal = GridJournal.open(folder)) {
                assertThat(journal.record(3).state()).isEqualTo(JobState.RUNNING);
            }
        }
    }

    @Test
    void aJournalThatWasTornBeforeItSaysWhatTheGridIsIsANewOne() throws IOException {
        Files.writeString(file(), "{\"event\":\"gr");

        try (GridJournal journal = GridJournal.open(folder)) {
            assertThat(journal.begun()).isNull();
            journal.begin(BEGUN);
        }
        assertThat(Files.readAllLines(file())).hasSize(1);
    }

    @Test
    void aLineInTheMiddleThatCannotBeReadIsNamed() throws IOException {
        writeTwoJobs();
        Files.writeString(file(), "rubbish\n{}\n", StandardOpenOption.APPEND);

        assertThatThrownBy(() -> GridJournal.open(folder))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("line=5");
    }

    @Test
    void nobodyElseOpensItMeanwhile() {
        GridJournal first = GridJournal.open(folder);
        try (first) {
            assertThatThrownBy(() -> GridJournal.open(folder))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                    .hasMessageContaining("another grid is running in this folder");
        }
        GridJournal.open(folder).close();
    }

    @Test
    void aFolderWithOtherFilesIsLeftAlone() throws IOException {
        Path other = Files.writeString(folder.resolve("precious"), "");

        assertThatThrownBy(() -> GridJournal.open(folder)).hasMessageContaining("files that do not belong to a grid");

        assertThat(Objects.requireNonNull(folder.toFile().list())).containsExactly(String.valueOf(other.getFileName()));
    }
}
