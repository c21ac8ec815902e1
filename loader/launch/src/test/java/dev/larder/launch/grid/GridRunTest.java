package dev.larder.launch.grid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.PoolSlot;
import dev.larder.launch.process.ProcessResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GridRunTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    /** Remembers what it hears, and fails where it is told to. */
    private static final class Ears implements GridListener {
        final Map<Integer, String> heard = new ConcurrentHashMap<>();
        final Map<Integer, ProcessResult> ends = new ConcurrentHashMap<>();
        boolean refusesStarts;
        boolean refusesEnds;

        @Override
        public void starting(GridJob job, PoolSlot slot) {
            if (refusesStarts) {
                throw new IllegalStateException("disk full");
            }
        }

        @Override
        public void lines(GridJob job, List<OutputLine> lines) {
            heard.put(job.number(), lines.get(lines.size() - 1).text());
        }

        @Override
        public void ended(GridJob job, ProcessResult ending) {
            ends.put(job.number(), ending);
            if (refusesEnds) {
                throw new IllegalStateException("disk full");
            }
        }
    }

    private final Ears ears = new Ears();

    private GridRun run(boolean stopsOnFailure, String axis, String script) {
        GridRun run = new GridRun(
                List.of(PoolSlot.named("0")), new GridRun.Settings(folder, Map.of(), null, stopsOnFailure), ears);
        GridPlan grid = new GridPlan(List.of(Axis.parse(axis)), List.of("sh", "-c", script));
        for (GridJob job : grid.jobs()) {
            Path base = folder.resolve(job.fileName());
            run.submit(job, new GridRun.Files(Path.of(base + ".log"), Path.of(base + ".result")));
        }
        return run;
    }

    @Test
    void jobsFindTheirParametersAndWhereTheirResultGoes() {
        GridRun run = run(false, "x-y=7,8", "echo $LARDER_PARAM_X_Y $LARDER_JOB; echo r > $LARDER_RESULT");

        assertThat(run.await(PATIENCE)).isTrue();

        assertThat(ears.heard).containsEntry(1, "7 1").containsEntry(2, "8 2");
        assertThat(folder.resolve("0002.log")).hasContent("8 2");
        assertThat(folder.resolve("0002.result")).hasContent("r");
    }

    @Test
    void afterAFailureNoFurtherJobStartsWhereThatIsWanted() {
        GridRun run = run(true, "x=0..3", "test {x} != 1");

        assertThat(run.await(PATIENCE)).isTrue();

        assertThat(ears.ends).containsOnlyKeys(1, 2);
    }

    @Test
    void stoppingEndsWhatRunsAndStartsNothing() {
        GridRun run = run(false, "x=0..3", "echo up; sleep 600");
        await().atMost(PATIENCE).until(() -> ears.heard.containsKey(1));

        run.stop();

        assertThat(run.await(PATIENCE)).isTrue();
        assertThat(ears.ends).containsOnlyKeys(1);
    }

    @Test
    void whereStartsCannotBeNotedNothingIsStarted() {
        ears.refusesStarts = true;
        GridRun run = run(false, "x=0..1", "true");

        assertThat(run.await(PATIENCE)).isTrue();

        assertThat(ears.ends.values()).allMatch(end -> end.cause().text().contains("disk full"));
    }

    @Test
    void whereEndsCannotBeNotedTheGridStopsAndSaysSo() {
        ears.refusesEnds = true;
        GridRun run = run(false, "x=0..9", "true");

        assertThatThrownBy(() -> run.await(PATIENCE)).hasMessage("disk full");
        assertThat(ears.ends).hasSizeLessThan(10);
        run.kill();
    }
}
