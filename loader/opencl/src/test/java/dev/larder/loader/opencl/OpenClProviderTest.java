package dev.larder.loader.opencl;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceProvider;
import dev.larder.loader.internal.device.InstalledDevices;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeavesNoObjects.class)
class OpenClProviderTest {
    @Test
    void theProviderIsFoundByItsName() {
        assertThat(ServiceLoader.load(DeviceProvider.class))
                .anySatisfy(provider -> assertThat(provider.backend()).isEqualTo("opencl"));
    }

    @Test
    void devicesAreDescribedAsTheDriverDoes() {
        DeviceInfo info = OpenClRig.info();

        assertThat(info.toString()).startsWith("opencl:0 ");
        assumeTrue(info.platform().contains("Portable Computing Language"), "another driver than PoCL");
        assertThat(info.kind()).isEqualTo("cpu");
        assertThat(info.platform()).contains("OpenCL");
        assertThat(info.maxAllocationBytes()).isBetween(1L << 20, info.memoryBytes());
        assertThat(info.computeUnits()).isPositive();
        assertThat(info.unifiedMemory()).isTrue();
        assertThat(info.doubles()).isTrue();
        assertThat(info.exactFloats()).isTrue();
        assertThat(info.driver()).isNotEmpty();
    }

    @Test
    void theFirstDeviceIsOpenedWhereNothingElseIsSaid() {
        try (DeviceBackend backend = requireNonNull(InstalledDevices.open(Device.opencl()))) {
            assertThat(backend.info().backend()).isEqualTo("opencl");
        }
    }

    @Test
    void aDeviceThatIsNotThereIsNotOpened() {
        DeviceInfo gone = new DeviceInfo("opencl", 99, "Gone", "gpu", "", "", 1, 1, 1, false, false, false);

        assertThatThrownBy(() -> new OpenClProvider().open(gone))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("Gone");
    }
}
