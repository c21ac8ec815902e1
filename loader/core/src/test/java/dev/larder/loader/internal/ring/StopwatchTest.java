package dev.larder.loader.internal.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class StopwatchTest {
    private static final int ROW = LoaderDescriptor.rowOffset(1);
    private static final long MOMENT_NANOS = 200_000;

    /** Totals are numbers of floating point. */
    private static final long ROUNDING_NANOS = 20;

    private final UnsafeBuffer file = new UnsafeBuffer(new byte[LoaderDescriptor.fileLength(2)]);
    private final Stopwatch stopwatch = new Stopwatch(file, 1, LoaderDescriptor.ROLE_CONSUMER, "d");

    private static void letTimePass() {
        long start = System.nanoTime();
        while (System.nanoTime() - start < MOMENT_NANOS) {
            Thread.onSpinWait();
        }
    }

    private long nanos(WorkPart part) {
        return stopwatch.nanos(part);
    }

    @Test
    void aPartLastsUntilTheNextOneBegins() {
        long start = System.nanoTime();
        stopwatch.begin(WorkPart.GATHERING);
        letTimePass();
        assertThat(nanos(WorkPart.GATHERING)).isGreaterThan(MOMENT_NANOS - ROUNDING_NANOS);
        stopwatch.begin(WorkPart.PLANNING);
        long gathering = nanos(WorkPart.GATHERING);
        letTimePass();
        stopwatch.end();
        long planning = nanos(WorkPart.PLANNING);
        long elapsed = System.nanoTime() - start;
        stopwatch.end();
        letTimePass();

        assertThat(nanos(WorkPart.GATHERING)).isEqualTo(gathering).isGreaterThan(MOMENT_NANOS - ROUNDING_NANOS);
        assertThat(nanos(WorkPart.PLANNING)).isEqualTo(planning).isGreaterThan(MOMENT_NANOS - ROUNDING_NANOS);
        assertThat(gathering + planning).isLessThan(elapsed + ROUNDING_NANOS);
    }

    @Test
    void timesOfAPartAddUp() {
        for (int i = 1; i < 4; i++) {
            stopwatch.begin(WorkPart.GATHERING);
            letTimePass();
            stopwatch.end();
            assertThat(nanos(WorkPart.GATHERING)).isGreaterThan(i * (MOMENT_NANOS - ROUNDING_NANOS));
        }
    }

    @Test
    void someTimeOfThePresentPartIsThatOfAnother() {
        long start = System.nanoTime();
        stopwatch.begin(WorkPart.GATHERING);
        letTimePass();
        stopwatch.move(50_000, WorkPart.READING);
        stopwatch.move(0, WorkPart.DECODING);
        stopwatch.move(-50_000, WorkPart.DECODING);
        stopwatch.end();
        long elapsed = System.nanoTime() - start;
        stopwatch.move(50_000, WorkPart.DECODING);

        assertThat(nanos(WorkPart.READING)).isBetween(50_000 - ROUNDING_NANOS, 50_000 + ROUNDING_NANOS);
        assertThat(nanos(WorkPart.GATHERING))
                .isBetween(MOMENT_NANOS - 50_000 - ROUNDING_NANOS, elapsed - 50_000 + ROUNDING_NANOS);
        assertThat(nanos(WorkPart.DECODING)).isZero();
    }

    @Test
    void aWaitBelongsToTheStartOfAnEpochUntilItsFirstBatchIsTaken() {
        stopwatch.beginEpoch();
        letTimePass();
        stopwatch.end();
        stopwatch.beginWait();
        letTimePass();
        stopwatch.end();
        long starting = nanos(WorkPart.STARTING);
        assertThat(starting).isGreaterThan(2 * (MOMENT_NANOS - ROUNDING_NANOS));
        assertThat(nanos(WorkPart.WAITING_FOR_BATCH)).isZero();

        stopwatch.taken(1, 1);
        stopwatch.beginWait();
        letTimePass();
        stopwatch.end();
        assertThat(nanos(WorkPart.WAITING_FOR_BATCH)).isGreaterThan(MOMENT_NANOS - ROUNDING_NANOS);
        assertThat(nanos(WorkPart.STARTING)).isEqualTo(starting);
    }

    @Test
    void takenBatchesAreCounted() {
        stopwatch.taken(10, 100);
        stopwatch.taken(5, 50);

        assertThat(stopwatch.batches()).isEqualTo(2);
        assertThat(stopwatch.samples()).isEqualTo(15);
        assertThat(stopwatch.bytes()).isEqualTo(150);
        assertThat(file.getLong(ROW + LoaderDescriptor.BATCHES_OFFSET)).isEqualTo(2);
    }

    @Test
    void theRowNamesTheThreadAndItsRole() throws IOException {
        assertThat(file.getInt(ROW + LoaderDescriptor.ROLE_OFFSET)).isEqualTo(LoaderDescriptor.ROLE_CONSUMER);
        assertThat(file.getLong(ROW + LoaderDescriptor.THREAD_OFFSET)).isZero();
        stopwatch.ofThisThread();
        stopwatch.uploads();

        String thread = Files.readSymbolicLink(Path.of("/proc/thread-self"))
                .getFileName()
                .toString();
        assertThat(file.getLong(ROW + LoaderDescriptor.THREAD_OFFSET)).isEqualTo(Long.parseLong(thread));
        assertThat(file.getInt(ROW + LoaderDescriptor.ROLE_OFFSET)).isEqualTo(LoaderDescriptor.ROLE_UPLOADER);
        assertThat(file.getInt(LoaderDescriptor.rowOffset(0))).isZero();
    }

    @Test
    void theStartOfAnEpochAndEachWaitNameTheirThread() throws InterruptedException {
        stopwatch.beginEpoch();
        long first = file.getLong(ROW + LoaderDescriptor.THREAD_OFFSET);
        Thread other = new Thread(stopwatch::beginWait);
        other.start();
        other.join(TimeUnit.MINUTES.toMillis(1));

        assertThat(first).isPositive();
        assertThat(file.getLong(ROW + LoaderDescriptor.THREAD_OFFSET))
                .isPositive()
                .isNotEqualTo(first);
    }
}
