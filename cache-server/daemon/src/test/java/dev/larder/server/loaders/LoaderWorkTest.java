package dev.larder.server.loaders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.LoaderDescriptor.Facts;
import dev.larder.internal.layout.WorkPart;
import dev.larder.server.loaders.WorkRow.Scheduling;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LoaderWorkTest {
    private static final long SECOND = 1_000_000_000;
    private static final WorkRow CONSUMER = row(LoaderDescriptor.ROLE_CONSUMER, 0, 0, null);

    private static WorkRow row(int role, long thread, double gathering, @Nullable Scheduling scheduling) {
        long[] nanos = new long[WorkPart.COUNT];
        nanos[WorkPart.GATHERING.index()] = (long) (gathering * SECOND);
        return new WorkRow(role, thread, nanos, 0, scheduling);
    }

    private static WorkRow gatherer(long thread, double gathering) {
        return row(LoaderDescriptor.ROLE_GATHERER, thread, gathering, null);
    }

    private static LoaderSample sample(int threads, long nanos, WorkRow... rows) {
        Facts facts = new Facts(1, 1, 0, LoaderDescriptor.PROGRAM_PYTHON, threads, 4, 256, 4, 1000, "mnist", "");
        return new LoaderSample("1-a", facts, nanos, 0, false, 0, List.of(rows));
    }

    private static LoaderWork work(int threads, WorkRow... rows) {
        return LoaderWork.between(null, sample(threads, SECOND, rows));
    }

    private static WorkRow consumer(double queued) {
        Scheduling scheduling = new Scheduling(0, (long) (queued * SECOND), 0, false, 0);
        return row(LoaderDescriptor.ROLE_CONSUMER, 7, 0, scheduling);
    }

    @Test
    void aConsumerThatGathersShowsWhetherItHasAProcessor() {
        LoaderSample begin = sample(0, SECOND, consumer(1), gatherer(0, 1));

        LoaderWork work = LoaderWork.between(begin, sample(0, 3 * SECOND, consumer(2.5), gatherer(0, 2.6)));

        assertThat(work.visible()).isEqualTo(SECOND * 16 / 10);
        assertThat(work.queued()).isEqualTo(SECOND * 12 / 10); // of 1.5 s, as it gathered for 0.8 of the time
        assertThat(work.blocked()).isZero();
    }

    @Test
    void workOfThreadsThatHaveEndedIsNotHelp() {
        LoaderWork work = work(1, CONSUMER, gatherer(0, 0.1), gatherer(0, 0.4), gatherer(7, 0.5));

        assertThat(work.helped()).isEqualTo(SECOND / 10);
        assertThat(work.gatherers()).isEqualTo(1);
        assertThat(work.busy()).isEqualTo(SECOND * 9 / 10);
    }

    @Test
    void oneBusyThreadIsEnoughToBeBusy() {
        assertThat(work(4, CONSUMER, gatherer(0, 0), gatherer(7, 0.9), gatherer(8, 0.1))
                        .busy())
                .isEqualTo(SECOND * 9 / 10);
        assertThat(work(0, CONSUMER, gatherer(0, 0.7)).busy()).isEqualTo(SECOND * 7 / 10);
        assertThat(work(1, CONSUMER, gatherer(0, 0), gatherer(7, 0.8), gatherer(8, 0.8))
                        .busy())
                .isEqualTo(SECOND);
    }
}
