package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jocl.CL;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class HealthTest {
    @BeforeAll
    static void load() {
        OpenClLibrary.require();
    }

    @Test
    void aFailureNamesCallAndCode() {
        assertThat(new Health()
                        .failed("clFoo", CL.CL_INVALID_VALUE)
                        .with("bytes", 3)
                        .exception())
                .hasMessage("OpenCL call failed: call=clFoo code=CL_INVALID_VALUE bytes=3");
        assertThat(Health.name(-9999)).isEqualTo("unnamed(-9999)");
        assertThat(Health.name(-1001)).isEqualTo("CL_PLATFORM_NOT_FOUND_KHR");
    }

    @Test
    void aFailureOfOneCallLeavesTheDeviceUsable() {
        Health health = new Health();

        health.failed("clFoo", CL.CL_INVALID_VALUE);

        assertThatCode(health::require).doesNotThrowAnyException();
    }

    @Test
    void afterAFinalFailureEveryCallNamesTheFirst() {
        Health health = new Health();
        health.failed("clFirst", CL.CL_DEVICE_NOT_AVAILABLE);
        health.failed("clSecond", CL.CL_OUT_OF_RESOURCES);

        assertThatThrownBy(health::require)
                .hasMessageContaining("device is unusable")
                .hasMessageContaining("clFirst CL_DEVICE_NOT_AVAILABLE");
    }
}
