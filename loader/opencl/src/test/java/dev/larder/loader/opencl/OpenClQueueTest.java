package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Fence;
import dev.larder.loader.device.Rig;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jocl.CL;
import org.jocl.cl_event;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(300)
@ExtendWith(LeavesNoObjects.class)
class OpenClQueueTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    @Test
    void theKernelWaitsForTheUpload() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads());
                Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
            assertThatThrownBy(() -> done.await(SHORT)).isInstanceOf(LarderException.class);
            assertThat(rig.read(rig.target)).containsOnly(0xA5);

            gate.open();

            done.await(Rig.SOON);
            assertThat(rig.read(rig.target)).isEqualTo(Rig.random(rig.byteSize, 1));
        }
    }

    @Test
    void theConsumerWaitsForTheKernel() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.kernels());
                Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
            rig.backend.consumer().waitFor(done);
            try (Fence consumed = rig.backend.consumer().fence()) {
                assertThatThrownBy(() -> consumed.await(SHORT)).isInstanceOf(LarderException.class);

                gate.open();

                consumed.await(Rig.SOON);
            }
        }
    }

    @Test
    void whatIsStagedTooEarlyIsSeen() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend).before(rig.backend.uploads());
                Fence done = rig.submit(Rig.random(rig.byteSize, 1))) {
            rig.staging.bytes().put(0, Rig.random(rig.byteSize, 2)); // wrong: the upload's fence is not passed

            gate.open();

            done.await(Rig.SOON);
            assertThat(rig.read(rig.target)).isEqualTo(Rig.random(rig.byteSize, 2));
        }
    }

    @Test
    void aFenceThatIsPassedCostsNothing() {
        try (Rig rig = OpenClRig.open()) {
            rig.backend.uploads().waitFor(Fence.passed());

            assertThat(rig.run(Rig.random(rig.byteSize, 1))).isEqualTo(Rig.random(rig.byteSize, 1));
        }
    }

    @Test
    void workThatCannotBeDoneAgainEndsTheDevice() {
        try (Rig rig = OpenClRig.open();
                Gate gate = new Gate(rig.backend);
                Fence lost = new OpenClFence(Gate.context(rig.backend), health(rig), retained(gate))) {
            gate.fail(CL.CL_OUT_OF_RESOURCES);
            assertThatThrownBy(lost::isPassed).hasMessageContaining("CL_OUT_OF_RESOURCES");

            assertThatThrownBy(() -> rig.backend.uploads().fence())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNEXPECTED))
                    .hasMessageContaining("device is unusable")
                    .hasMessageContaining("CL_OUT_OF_RESOURCES");
            assertThatThrownBy(() -> rig.backend.allocateDevice(1)).hasMessageContaining("device is unusable");
        }
    }

    private static Health health(Rig rig) {
        return ((OpenClQueue) rig.backend.uploads()).session().health();
    }

    private static cl_event retained(Gate gate) {
        cl_event event = (cl_event) gate.event();
        Events.retain(event);
        return event;
    }

    @Test
    void aReadThatIsGivenUpNamesItsDeadline() {
        try (Rig rig = new Rig(OpenClRig.openBackend(OpenClOptions.DEFAULT.patience(Duration.ofMillis(100))), 10);
                Gate gate = new Gate(rig.backend).before(rig.backend.consumer())) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(10);

            assertThatThrownBy(() -> rig.backend.consumer().read(rig.target, 0, bytes))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE));

            gate.open();
        }
    }
}
