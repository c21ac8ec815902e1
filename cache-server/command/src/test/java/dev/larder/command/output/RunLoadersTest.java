package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.process.TaskStat;
import dev.larder.server.loaders.Bottleneck;
import dev.larder.server.loaders.Cause;
import dev.larder.server.loaders.LoaderRow;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunLoadersTest {
    private static final long PID = ProcessHandle.current().pid();
    private static final long START = TaskStat.ofThisProcess().orElseThrow().startTicks();

    private static LoaderRow loader(long pid, long processStart) {
        Bottleneck bottleneck = new Bottleneck(Map.of(), Cause.TRAINER, 0, "");
        return new LoaderRow(pid + "-1f", pid, processStart, "java", "mnist", "fed", 2, 4, 10, 1.5, bottleneck);
    }

    private static boolean isOf(LoaderRow loader, String run) {
        return RunLoaders.isOf(loader, run, List.of());
    }

    @Test
    void aLoaderIsFoundByFeedDatasetAndPid() {
        assertThat(List.of("fed", "mnist", Long.toString(PID)))
                .allMatch(run -> isOf(loader(PID, START), run))
                .noneMatch(run -> isOf(loader(PID, START), run + "0"));
    }

    @Test
    void aPidOfAnotherNamespaceIsNotThatOfAProcessHere() {
        LoaderRow elsewhere = loader(PID, START + 1);

        assertThat(isOf(elsewhere, Long.toString(PID))).isFalse();
        assertThat(isOf(elsewhere, "mnist")).isTrue();
    }

    @Test
    void aProcessThatIsNotVisibleIsFoundByThePidThatTopShows() {
        long unused = (1L << 22) + 1; // above the highest pid of Linux

        assertThat(isOf(loader(unused, 1), Long.toString(unused))).isTrue();
    }
}
