package dev.larder.command.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads what Slurm 22.05 sets for the tasks of a step. */
class SlurmStepTest {
    private static final Map<String, String> STEP = Map.of(
            "SLURM_JOB_ID", "4711",
            "SLURM_STEP_ID", "2",
            "SLURM_STEP_NUM_NODES", "4",
            "SLURM_STEP_NUM_TASKS", "4",
            "SLURM_STEP_NODELIST", "gpu[007-010]",
            "SLURM_NODEID", "3");

    private static Map<String, String> with(String name, String value) {
        Map<String, String> changed = new HashMap<>(STEP);
        changed.put(name, value);
        return changed;
    }

    @Test
    void aStepSaysWhichNodesThereAreAndWhichThisIs() {
        SlurmStep step = SlurmStep.of(STEP);

        assertThat(step.nodes()).isEqualTo(4);
        assertThat(step.nodeRank()).isEqualTo(3);
        assertThat(step.runName()).isEqualTo("slurm-4711.2.0");
        assertThat(step.endpoint().host()).isEqualTo("gpu007");
        assertThat(step.endpoint().port()).isBetween(20_000, 29_999);
        assertThat(SlurmStep.of(with("SLURM_NODEID", "0")).endpoint()).isEqualTo(step.endpoint());
        assertThat(SlurmStep.of(with("SLURM_RESTART_COUNT", "1")).runName()).isEqualTo("slurm-4711.2.1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "n1 | n1",
                "n[1-2] | n1",
                "gpu[007-010,12],login1 | gpu007",
                "login1,gpu[1-2] | login1",
                "rack[3,5]-node | rack3-node",
                "a[1-2].example.org | a1.example.org",
            })
    void theFirstNodeOfAListLeads(String list, String first) {
        assertThat(SlurmStep.firstHost(list)).isEqualTo(first);
    }

    @Test
    void whatIsNoStepOrHasSeveralTasksOnANodeIsRefused() {
        assertThatThrownBy(() -> SlurmStep.of(Map.of()))
                .hasMessageContaining("no step of a Slurm job: missing=SLURM_STEP_NUM_NODES");
        assertThatThrownBy(() -> SlurmStep.of(with("SLURM_STEP_NUM_TASKS", "8")))
                .hasMessageContaining("one launcher on each node: SLURM_STEP_NUM_TASKS=8")
                .hasMessageContaining("srun --ntasks-per-node=1");
        assertThatThrownBy(() -> SlurmStep.of(with("SLURM_NODEID", "x"))).hasMessageContaining("SLURM_NODEID=x");
    }
}
