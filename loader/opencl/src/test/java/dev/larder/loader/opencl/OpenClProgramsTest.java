package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.KernelSource.Rows;
import org.jocl.CL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(LeavesNoObjects.class)
class OpenClProgramsTest {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFailedBuildCarriesTheCompilersLog(boolean joclThrows) {
        CL.setExceptionsEnabled(joclThrows);
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT);
                Programs programs = new Programs(((OpenClQueue) backend.uploads()).session())) {
            assertThatThrownBy(() -> programs.build("__kernel void broken() { surely_not_declared = 1; }"))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNEXPECTED))
                    .hasMessageContaining("code=CL_BUILD_PROGRAM_FAILURE")
                    .hasMessageContaining("surely_not_declared");
        } finally {
            CL.setExceptionsEnabled(false);
        }
    }

    @Test
    void aKernelOfTheSameSourceIsCompiledOnce() {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT)) {
            backend.compile(Rig.copy(8, Rows.staged()));
            backend.compile(Rig.copy(8, Rows.staged()));
            assertThat(LiveObjects.count()).containsEntry(LiveObjects.Kind.PROGRAM, 1);

            backend.compile(Rig.copy(9, Rows.staged()));

            assertThat(LiveObjects.count()).containsEntry(LiveObjects.Kind.PROGRAM, 2);
        }
    }
}
