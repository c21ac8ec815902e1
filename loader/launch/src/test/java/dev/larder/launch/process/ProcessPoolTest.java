package dev.larder.launch.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.launch.process.ExitCause.Ended;
import dev.larder.launch.process.ExitCause.Exited;
import dev.larder.launch.process.ExitCause.NotStarted;
import dev.larder.launch.process.ExitCause.Signalled;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessPoolTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
    private final ProcessPool pool = new ProcessPool(
            List.of(new PoolSlot("a", Map.of("PLACE", "a")), new PoolSlot("b", Map.of("PLACE", "b"))),
            Duration.ofMillis(200));

    @AfterEach
    void closePool() {
        assertThat(pool.closeNow()).isEmpty();
    }

    private PooledJob submit(String script) {
        return pool.submit(Job.of(script, shell(script)));
    }

    private ProcessSpec shell(String script) {
        return ProcessSpec.of(
                        List.of("sh", "-c", script),
                        OutputRedirect.merged(null, read -> read.forEach(line -> lines.add(line.text()))))
                .in(folder);
    }

    private static ExitCause cause(PooledJob job) {
        return job.onEnd().orTimeout(30, TimeUnit.SECONDS).join().cause();
    }

    @Test
    void everyJobRunsInAPlaceThatIsItsAlone() throws Exception {
        String exclusive = "mkdir in-$PLACE || exit 9; sleep 0.02; rmdir in-$PLACE; echo $PLACE";
        List<PooledJob> jobs =
                IntStream.range(0, 20).mapToObj(i -> submit(exclusive)).toList();
        pool.close();

        assertThat(pool.join(PATIENCE)).isEmpty();

        assertThat(jobs).allMatch(job -> cause(job).isSuccess());
        assertThat(lines).hasSize(20).contains("a", "b");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void failuresAndDeathsAreResultsAndTheOthersGoOn() {
        List<PooledJob> jobs = Stream.of("exit 3", "kill -KILL $$", "kill -SEGV $$", "true")
                .map(this::submit)
                .toList();
        PooledJob absent =
                pool.submit(Job.of("absent", ProcessSpec.of(List.of("/absent"), OutputRedirect.discarded())));
        PooledJob broken = pool.submit(new Job("broken", null, slot -> {
            throw new IllegalStateException("no program");
        }));

        assertThat(pool.join(PATIENCE)).isEmpty();

        assertThat(jobs.stream().map(ProcessPoolTest::cause))
                .containsExactly(new Exited(3), new Signalled(9), new Signalled(11), new Exited(0));
        assertThat(cause(absent)).isEqualTo(new NotStarted(127, "no such program: command=/absent"));
        assertThat(cause(broken)).isEqualTo(new NotStarted(126, "no program"));
    }

    @Test
    void manyThatCannotBeStartedAreSoonOver() {
        for (int i = 0; i < 2000; i++) {
            pool.submit(Job.of("absent", ProcessSpec.of(List.of("/absent"), OutputRedirect.discarded())));
        }

        assertThat(pool.join(PATIENCE)).isEmpty();
    }

    @Test
    void joiningSaysWhatStillRunsWhenTheTimeIsUp() {
        PooledJob sleeping = submit("sleep 600");
        PooledJob quick = submit("true");
        assertThat(cause(quick).isSuccess()).isTrue();

        assertThat(pool.join(Duration.ofMillis(10))).containsExactly(sleeping);
        assertThat(sleeping.isDone()).isFalse();
    }

    @Test
    void aJobWhoseTimeIsUpIsEndedThenKilled() {
        Job deaf = new Job("deaf", Duration.ofSeconds(1), slot -> shell("trap '' TERM; while :; do sleep 600; done"));

        assertThat(cause(pool.submit(deaf))).isEqualTo(new Ended(EndReason.DEADLINE, 137));
    }

    @Test
    void cancellingEndsWhatRunsAndForgetsWhatWaits() {
        List<PooledJob> jobs = IntStream.range(0, 4)
                .mapToObj(i -> submit("echo started; sleep 600"))
                .toList();
        await().atMost(PATIENCE).until(() -> lines.size() == 2);

        pool.cancel(PATIENCE);

        assertThat(pool.join(PATIENCE)).isEmpty();
        assertThat(jobs).allMatch(job -> cause(job) instanceof Ended);
        assertThat(lines).filteredOn("started"::equals).hasSize(2); // some shells say, too, that they are ended
        assertThat(cause(submit("true")).isSuccess()).isTrue();
    }

    @Test
    void closedItTakesNothingNewButRunsWhatItHas() {
        PooledJob job = submit("sleep 0.1");
        pool.close();

        assertThatThrownBy(() -> submit("true")).isInstanceOf(IllegalStateException.class);
        assertThat(cause(job).isSuccess()).isTrue();
    }

    @Test
    void jobsThatAreKilledAtRandomNeverBlockThePool() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        List<PooledJob> jobs = IntStream.range(0, 60)
                .mapToObj(i -> submit("sleep 0.0" + (i % 10)))
                .toList();
        for (PooledJob job : jobs) {
            switch (random.nextInt(3)) {
                case 0 -> job.cancel(Duration.ofMillis(random.nextInt(3)));
                case 1 -> ProcessHandle.of(job.pid()).ifPresent(ProcessHandle::destroyForcibly);
                default -> job.withdraw();
            }
        }

        assertThat(pool.join(PATIENCE)).isEmpty();
        assertThat(jobs).allMatch(PooledJob::isDone);
    }
}
