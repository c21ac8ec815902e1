package dev.larder.server.loaders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.LoaderDescriptor.Facts;
import dev.larder.internal.layout.WorkPart;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BottleneckTest {
    private static final long SECOND = 1_000_000_000;
    private static final Kernel UNKNOWN = new Kernel(0, 0, 0, 0);

    /** The kernel's view: the work of visible threads, and of it the time on a processor and in its queue; page faults. */
    private record Kernel(long visible, long cpu, long queued, long faults, boolean isReading, boolean isLocked) {
        Kernel(long visible, long cpu, long queued, long faults) {
            this(visible, cpu, queued, faults, false, false);
        }
    }

    private static Bottleneck of(int program, int threads, Map<WorkPart, Double> seconds, Kernel kernel) {
        long[] times = new long[WorkPart.COUNT];
        seconds.forEach((part, value) -> times[part.index()] = (long) (value * SECOND));
        Facts facts = new Facts(1, 1, 0, program, threads, 4, 256, 4, 1000, "mnist", "");
        return Bottleneck.of(new LoaderWork(
                facts,
                SECOND,
                times,
                -1,
                threads,
                0,
                busy(threads, times),
                kernel.visible,
                kernel.cpu,
                kernel.queued,
                kernel.faults,
                kernel.isReading,
                0,
                kernel.isLocked,
                0,
                100));
    }

    private static long busy(int threads, long[] times) {
        long work = 0;
        for (int part = WorkPart.PLANNING.index(); part <= WorkPart.TRANSFORMING.index(); part++) {
            work += times[part];
        }
        return Math.min(SECOND, work / Math.max(1, threads));
    }

    private static Bottleneck java(int threads, Map<WorkPart, Double> seconds) {
        return of(LoaderDescriptor.PROGRAM_JAVA, threads, seconds, UNKNOWN);
    }

    @Test
    void aTrainerThatHardlyWaitsIsTheBottleneck() {
        Bottleneck found = java(2, Map.of(WorkPart.WAITING_FOR_BATCH, 0.04, WorkPart.DECODING, 0.5));

        assertThat(found.cause()).isEqualTo(Cause.TRAINER);
        assertThat(found.advice())
                .isEqualTo(
                        "the trainer waits for batches 4 % of the time: it is the bottleneck itself, and a faster loader"
                                + " gains nothing");
    }

    @Test
    void aWaitIsDividedAsTheWorkMeanwhileAndSharesAddUp() {
        Bottleneck found =
                java(2, Map.of(WorkPart.WAITING_FOR_BATCH, 0.8, WorkPart.DECODING, 1.5, WorkPart.GATHERING, 0.5));

        assertThat(found.cause()).isEqualTo(Cause.DECODE);
        assertThat(found.shares().get(Cause.DECODE)).isCloseTo(0.6, within(1e-9));
        assertThat(found.shares().get(Cause.GATHER)).isCloseTo(0.2, within(1e-9));
        assertThat(found.shares().values().stream().mapToDouble(share -> share).sum())
                .isCloseTo(1, within(1e-9));
        assertThat(found.advice()).endsWith("mostly for decode: raise threads(…), now 2 of 4 processors");
    }

    @Test
    void threadsThatWaitForSlotsWhileTheTrainerWaitsNeedThem() {
        Bottleneck found = java(
                4,
                Map.of(
                        WorkPart.WAITING_FOR_BATCH, 0.5,
                        WorkPart.USER_CODE, 1.0,
                        WorkPart.WAITING_FOR_CONSUMER, 3.0));

        assertThat(found.advice())
                .endsWith("user code, while other threads wait for free slots: raise prefetch(…), now 4");
    }

    @Test
    void aSlowSamplerIsToldFromCopies() {
        Bottleneck found =
                java(2, Map.of(WorkPart.WAITING_FOR_BATCH, 0.9, WorkPart.PLANNING, 1.0, WorkPart.GATHERING, 0.1));

        assertThat(found.cause()).isEqualTo(Cause.GATHER);
        assertThat(found.remedy()).contains("make your sampler faster");
    }

    @Test
    void threadsWithoutAProcessorAreToldFromSlowOnes() {
        Map<WorkPart, Double> work = Map.of(WorkPart.WAITING_FOR_BATCH, 0.9, WorkPart.TRANSFORMING, 2.0);

        Bottleneck found =
                of(LoaderDescriptor.PROGRAM_PYTHON, 2, work, new Kernel(2 * SECOND, SECOND / 2, 3 * SECOND / 2, 0));

        assertThat(found.cause()).isEqualTo(Cause.PROCESSOR);
    }

    @Test
    void pageFaultsThatBlockAreADiskAndOtherBlocksAreUserCode() {
        Map<WorkPart, Double> gather = Map.of(WorkPart.WAITING_FOR_BATCH, 0.9, WorkPart.GATHERING, 2.0);
        Map<WorkPart, Double> code = Map.of(WorkPart.WAITING_FOR_BATCH, 0.9, WorkPart.USER_CODE, 2.0);

        Bottleneck disk = of(LoaderDescriptor.PROGRAM_JAVA, 2, gather, new Kernel(2 * SECOND, SECOND / 10, 0, 500));
        Bottleneck lock = of(LoaderDescriptor.PROGRAM_JAVA, 4, code, new Kernel(2 * SECOND, SECOND / 10, 0, 1));

        assertThat(disk.cause()).isEqualTo(Cause.DISK);
        assertThat(lock.cause()).isEqualTo(Cause.USER_CODE);
        assertThat(lock.remedy()).startsWith("user code that waits for a lock");
    }

    @Test
    void aTrainerThatNeverWaitsForBatchesMayWaitForPythonsLock() {
        Map<WorkPart, Double> code = Map.of(WorkPart.WAITING_FOR_BATCH, 0.01, WorkPart.USER_CODE, 0.97);

        Bottleneck locked =
                of(LoaderDescriptor.PROGRAM_PYTHON, 1, code, new Kernel(SECOND, SECOND / 10, 0, 0, false, true));
        Bottleneck level = of(LoaderDescriptor.PROGRAM_PYTHON, 1, code, new Kernel(SECOND, SECOND / 10, 0, 0));

        assertThat(locked.cause()).isEqualTo(Cause.USER_CODE);
        assertThat(locked.advice()).contains("holds Python's lock");
        assertThat(locked.shares().values().stream().mapToDouble(share -> share).sum())
                .isCloseTo(1, within(1e-9));
        assertThat(level.cause()).isEqualTo(Cause.TRAINER);
    }

    @Test
    void withoutThreadsTheLargerPartIsTheBottleneck() {
        Bottleneck trainer = java(0, Map.of(WorkPart.WAITING_FOR_BATCH, 0.3, WorkPart.USER_CODE, 0.3));
        Bottleneck function = java(0, Map.of(WorkPart.WAITING_FOR_BATCH, 0.7, WorkPart.USER_CODE, 0.7));

        assertThat(trainer.cause()).isEqualTo(Cause.TRAINER);
        assertThat(trainer.advice()).endsWith("threads that gather meanwhile save the rest: threads(…)");
        assertThat(function.cause()).isEqualTo(Cause.USER_CODE);
    }

    @Test
    void aReadThatHasNotEndedIsADisk() {
        Map<WorkPart, Double> gather = Map.of(WorkPart.WAITING_FOR_BATCH, 1.0, WorkPart.GATHERING, 2.0);

        Bottleneck hung = of(LoaderDescriptor.PROGRAM_PYTHON, 2, gather, new Kernel(2 * SECOND, 0, 0, 0, true, false));
        Bottleneck locked = of(LoaderDescriptor.PROGRAM_PYTHON, 2, gather, new Kernel(2 * SECOND, 0, 0, 0));

        assertThat(hung.cause()).isEqualTo(Cause.DISK);
        assertThat(locked.cause()).isEqualTo(Cause.GATHER);
    }

    @Test
    void waitsForADiskThatTheLoaderHasCountedCountOnce() {
        Map<WorkPart, Double> parts =
                Map.of(WorkPart.WAITING_FOR_BATCH, 1.0, WorkPart.READING, 1.0, WorkPart.GATHERING, 1.0);

        Bottleneck found = of(LoaderDescriptor.PROGRAM_JAVA, 2, parts, new Kernel(2 * SECOND, SECOND, 0, 500));

        assertThat(found.shares().get(Cause.DISK)).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void theStartOfShortEpochsIsAWaitForThreadsThatWorkAllTheTime() {
        Map<WorkPart, Double> parts =
                Map.of(WorkPart.STARTING, 0.6, WorkPart.WAITING_FOR_BATCH, 0.35, WorkPart.GATHERING, 0.95);

        Bottleneck busy = java(1, parts);
        Bottleneck idle = java(4, parts); // longer epochs would keep these threads busy

        assertThat(busy.cause()).isEqualTo(Cause.GATHER);
        assertThat(busy.shares().get(Cause.STARTING)).isCloseTo(0.05, within(1e-9));
        assertThat(busy.shares().get(Cause.GATHER)).isCloseTo(0.9, within(1e-9));
        assertThat(idle.cause()).isEqualTo(Cause.STARTING);
    }

    @Test
    void theStartOfEpochsAndUploadsAreNamed() {
        assertThat(java(2, Map.of(WorkPart.STARTING, 0.6, WorkPart.WAITING_FOR_BATCH, 0.1, WorkPart.GATHERING, 0.2))
                        .cause())
                .isEqualTo(Cause.STARTING);
        Facts facts = new Facts(1, 1, 0, LoaderDescriptor.PROGRAM_JAVA, 2, 4, 256, 4, 1000, "mnist", "");
        long[] times = new long[WorkPart.COUNT];
        times[WorkPart.WAITING_FOR_BATCH.index()] = SECOND * 9 / 10;
        LoaderWork work =
                new LoaderWork(facts, SECOND, times, SECOND / 10, 2, 0, 0, 0, 0, 0, 0, false, 0, false, 0, 100);

        assertThat(Bottleneck.of(work).cause()).isEqualTo(Cause.UPLOAD);
    }
}
