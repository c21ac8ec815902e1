package dev.larder.command.grid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.launch.process.PoolSlot;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceSlotsTest {
    private static final List<String> TWO_NVIDIA_AFTER_AN_INTEL =
            List.of("gpu 0 Intel(R) OpenCL Graphics", "gpu 2 NVIDIA CUDA", "gpu 3 NVIDIA CUDA");

    private final List<String> notes = new ArrayList<>();

    private List<String> slots(String wanted, int perDevice, @Nullable String visible, List<String> gpus) {
        return new DeviceSlots(wanted, perDevice, visible)
                .slots(() -> gpus, !gpus.isEmpty(), notes).stream()
                        .map(DeviceSlotsTest::text)
                        .toList();
    }

    private static String text(PoolSlot slot) {
        return slot.name() + " " + slot.environment().get("CUDA_VISIBLE_DEVICES") + " "
                + slot.environment().get("LARDER_DEVICE");
    }

    @Test
    void withoutAGpuAllDevicesAreTheHostAndANoteSaysSo() {
        assertThat(slots("all", 1, null, List.of())).containsExactly("host null host");
        assertThat(notes).singleElement().asString().contains("no GPU found");
        assertThat(slots("all", 2, null, List.of())).containsExactly("host:1 null host", "host:2 null host");
    }

    @Test
    void aNumberIsACountAndAListNamesDevices() {
        assertThat(slots("3", 1, null, List.of())).containsExactly("0 0 0", "1 1 1", "2 2 2");
        assertThat(slots("0,2", 1, null, List.of())).containsExactly("0 0 0", "2 2 2");
        assertThat(slots("2,", 2, null, List.of())).containsExactly("2:1 2 2", "2:2 2 2");
    }

    @Test
    void numbersCountAmongTheDevicesThatThisProcessSees() {
        assertThat(slots("2", 1, "4, GPU-7f", List.of())).containsExactly("0 4 0", "1 GPU-7f 1");
        assertThatThrownBy(() -> slots("3", 1, "4,5", List.of()))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("CUDA_VISIBLE_DEVICES=4,5");
    }

    @Test
    void aJobFindsAnNvidiaDeviceWhereTheFirstOneWasAsItSeesNoOther() {
        assertThat(slots("all", 1, null, TWO_NVIDIA_AFTER_AN_INTEL)).containsExactly("0 0 2", "1 1 2");
    }

    @Test
    void otherGpusKeepTheirNumbers() {
        assertThat(slots("all", 1, null, List.of("gpu 1 AMD", "gpu 2 AMD"))).containsExactly("0 0 1", "1 1 2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "some", "0", "9999", "-1", "0,,2", "0-2", ",1"})
    void whatIsNoChoiceOfDevicesIsRefused(String wanted) {
        assertThatThrownBy(() -> DeviceSlots.check(wanted))
                .isInstanceOf(LarderException.class)
                .hasMessageStartingWith("not a choice of devices: devices=" + wanted);
    }

    @Test
    void aGpuThatTwoBackendsListCountsOnce() {
        List<String> both = List.of("gpu 1 NVIDIA CUDA", "gpu cuda:0 NVIDIA CUDA, compute capability 9.0");

        assertThat(DeviceSlots.ofOneBackend(both)).containsExactly("gpu 1 NVIDIA CUDA");
        assertThat(DeviceSlots.ofOneBackend(both.subList(1, 2))).hasSize(1);
        assertThat(slots("all", 1, null, both.subList(1, 2))).containsExactly("0 0 cuda:0");
    }
}
