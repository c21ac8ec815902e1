package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RunFactsTest {
    private static String environment(String... variables) {
        return String.join("\0", variables) + "\0";
    }

    private static RunFacts run(String environment) {
        return Objects.requireNonNull(RunFacts.of(environment));
    }

    @Test
    void aRankIsKnownByItsVariablesAndNothingElseOfThemIsKept() {
        RunFacts rank =
                run(environment("SECRET=hunter2", "RANK=3", "WORLD_SIZE=8", "TORCHELASTIC_RUN_ID=resnet", "BROKEN"));

        assertThat(rank).isEqualTo(new RunFacts("launch", "resnet", 3, 8));
        assertThat(rank.inWords()).isEqualTo("rank 3/8 of resnet");
        assertThat(Json.line(rank.fields()))
                .isEqualTo("{\"kind\":\"launch\",\"name\":\"resnet\",\"number\":3,\"size\":8}");
    }

    @Test
    void aJobIsKnownByItsNumberAndTheFolderOfItsGrid() {
        assertThat(run(environment("LARDER_JOB=12", "LARDER_GRID=/home/a/sweep"))
                        .inWords())
                .isEqualTo("job 12 of sweep");
        assertThat(run(environment("RANK=0", "WORLD_SIZE=1", "TORCHELASTIC_RUN_ID=none"))
                        .inWords())
                .isEqualTo("rank 0/1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "RANK=1", "RANK=x\0WORLD_SIZE=2", "RANK=-1\0WORLD_SIZE=2", "LARDER_JOB=1e9", "=\0==\0"})
    void otherProcessesArePartOfNoRun(String environment) {
        assertThat(RunFacts.of(environment)).isNull();
    }

    @Test
    void whatATerminalWouldObeyIsNotShown() {
        RunFacts hostile =
                run(environment("RANK=1", "WORLD_SIZE=2", "TORCHELASTIC_RUN_ID=a\u001b[2Jb" + "x".repeat(999)));

        assertThat(hostile.name()).startsWith("a?[2Jbx").hasSize(200);
    }
}
