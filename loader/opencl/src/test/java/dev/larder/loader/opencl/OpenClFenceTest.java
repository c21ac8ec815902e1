package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Rig;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jocl.CL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(300)
@ExtendWith(LeavesNoObjects.class)
class OpenClFenceTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    @Test
    void aFenceIsPassedWhenAllBeforeItIsDone() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads());
                Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
            assertThat(done.isPassed()).isFalse();

            gate.open();

            done.await(Rig.SOON);
            assertThat(done.isPassed()).isTrue();
        }
    }

    @Test
    void aWaitEndsAtItsDeadline() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads());
                Fence done = rig.backend.uploads().fence()) {
            assertThatThrownBy(() -> done.await(SHORT))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));

            gate.open();
            done.await(Rig.SOON);
        }
    }

    @Test
    void aWaitEndsWhereTheThreadIsInterrupted() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads());
                Fence done = rig.backend.uploads().fence()) {
            Thread.currentThread().interrupt();

            assertThatThrownBy(() -> done.await(Rig.SOON))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERRUPTED));

            assertThat(Thread.interrupted()).isTrue();
            gate.open();
        }
    }

    @Test
    void aClosedFenceCountsAsPassedAndHoldsNobodyBack() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads())) {
            Fence closed = rig.backend.uploads().fence();
            closed.close();
            closed.close();

            rig.backend.consumer().waitFor(closed);

            assertThat(closed.isPassed()).isTrue();
            assertThat(closed.nativeObject()).isNull();
            assertThat(rig.read(rig.target)).containsOnly(0xA5);
            gate.open();
        }
    }

    @Test
    void failedWorkIsNamedInEveryFenceAfterIt() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads());
                Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
            gate.fail(CL.CL_MEM_COPY_OVERLAP);

            assertThatThrownBy(() -> done.await(Rig.SOON))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNEXPECTED))
                    .hasMessageContaining("code=CL_");
            assertThatThrownBy(done::isPassed).isInstanceOf(LarderException.class);
            assertThatThrownBy(() -> rig.backend.consumer().waitFor(done)).isInstanceOf(LarderException.class);
        }
    }

    @Test
    void anEventOfTheConsumersIsAFence() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend);
                Fence fence = gate.fence()) {
            assertThat(fence.isPassed()).isFalse();
            assertThat(fence.nativeObject()).isSameAs(gate.event());

            gate.fail(CL.CL_OUT_OF_HOST_MEMORY);

            assertThatThrownBy(fence::isPassed).hasMessageContaining("code=CL_OUT_OF_HOST_MEMORY");
        }
    }

    @Test
    void manyMayLookWhileOneCloses() throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (Rig rig = OpenClRig.open()) {
            for (int round = 0; round < 100; round++) {
                Fence done = rig.submit(Rig.random(rig.byteSize, round));
                CountDownLatch begun = new CountDownLatch(2);
                Runnable look = () -> {
                    begun.countDown();
                    done.await(Rig.SOON);
                };
                Thread first = watched(look, failure);
                Thread second = watched(look, failure);
                begun.await();
                done.close();
                first.join();
                second.join();
                assertThat(failure.get()).isNull();
            }
        }
    }

    private static Thread watched(Runnable task, AtomicReference<Throwable> failure) {
        Thread thread = new Thread(task, "looking");
        thread.setUncaughtExceptionHandler((dead, e) -> failure.set(e));
        thread.start();
        return thread;
    }
}
