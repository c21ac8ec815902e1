package dev.larder.loader.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceProvider;
import dev.larder.loader.internal.device.InstalledDevices;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeviceChoiceTest {
    /** Processors come first, to see that the kind counts and not the place. */
    private final Provider mixed =
            new Provider("opencl", "cpu:EPYC", "accelerator:Alveo", "gpu:H200 NVL", "gpu:A100", "gpu:H200 SXM");

    /** Lists made-up devices, and keeps what was to be opened. */
    private static final class Provider implements DeviceProvider {
        private final String backend;
        private final List<DeviceInfo> devices;
        private final List<String> opened = new ArrayList<>();
        private @Nullable LarderException failure;
        private ErrorCode ofOpening = ErrorCode.UNEXPECTED;

        Provider(String backend, String... kindsAndNames) {
            this.backend = backend;
            this.devices = IntStream.range(0, kindsAndNames.length)
                    .mapToObj(i -> device(backend, i, kindsAndNames[i].split(":")))
                    .toList();
        }

        private static DeviceInfo device(String backend, int index, String[] words) {
            return new DeviceInfo(
                    backend, index, words[1], words[0], "P 1", "1.0", 1L << 30, 1L << 28, 4, false, true, true);
        }

        Provider failing(ErrorCode code) {
            failure = Failure.of(code, "driver is amiss").exception();
            return this;
        }

        Provider lacking() {
            ofOpening = ErrorCode.NOT_FOUND;
            return this;
        }

        @Override
        public String backend() {
            return backend;
        }

        @Override
        public List<DeviceInfo> devices() {
            if (failure != null) {
                throw failure;
            }
            return devices;
        }

        @Override
        public DeviceBackend open(DeviceInfo device) {
            opened.add(device.name());
            throw Failure.of(ofOpening, "opened by " + backend).exception();
        }
    }

    private @Nullable String name(DeviceChoice choice, Map<String, String> environment) {
        DeviceInfo chosen = choice.choose(mixed.devices, environment);
        return chosen == null ? null : chosen.name();
    }

    private static @Nullable DeviceBackend open(
            InstalledDevices installed, DeviceChoice choice, Map<String, String> environment) {
        return installed.open(choice, devices -> Optional.ofNullable(choice.choose(devices, environment)));
    }

    /** Runs something and returns what it wrote to standard error. */
    private static String errorsOf(Runnable work) {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(before);
        }
        return written.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theFirstOfTheBestKindIsTaken() {
        assertThat(name(Device.auto(), Map.of())).isEqualTo("H200 NVL");
        assertThat(name(Device.opencl(), Map.of())).isEqualTo("H200 NVL");
    }

    @Test
    void anIndexTakesThatPlaceOfTheList() {
        assertThat(name(Device.opencl().index(1), Map.of())).isEqualTo("Alveo");
        assertThatThrownBy(() -> name(Device.opencl().index(5), Map.of()))
                .hasMessageContaining("no such device: wanted=index 5 devices=[opencl:0 EPYC, opencl:1 Alveo,")
                .hasMessageContaining("larder devices");
    }

    @ParameterizedTest
    @CsvSource({"h200, H200 NVL", "SXM, H200 SXM", "epyc, EPYC"})
    void aPartOfANameTakesTheFirstThatHasIt(String part, String taken) {
        assertThat(name(Device.auto().named(part), Map.of())).isEqualTo(taken);
    }

    @Test
    void aNameThatNoneHasIsRefused() {
        assertThatThrownBy(() -> name(Device.auto().named("B300"), Map.of()))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("wanted=name B300");
    }

    @Test
    void ofWhatTwoBackendsListOneHasTheDevicesInTurnAndTheOtherIsNamed() {
        List<DeviceInfo> twice = new ArrayList<>(new Provider("opencl", "gpu:H200", "gpu:H200").devices);
        twice.addAll(new Provider("cuda", "gpu:H200", "gpu:H200").devices);

        assertThat(Device.auto().choose(twice, Map.of("LOCAL_RANK", "2"))).hasToString("opencl:0 H200");
        assertThat(Device.auto().choose(twice, Map.of("LARDER_DEVICE", "cuda:1")))
                .hasToString("cuda:1 H200");
        assertThat(Device.auto().choose(twice.subList(2, 4), Map.of("LOCAL_RANK", "1")))
                .hasToString("cuda:1 H200");
    }

    @ParameterizedTest
    @CsvSource({"0, EPYC", "3, A100", "sxm, H200 SXM", "' alveo ', Alveo"})
    void theEnvironmentNamesADeviceByIndexOrName(String wanted, String taken) {
        assertThat(name(Device.auto(), Map.of("LARDER_DEVICE", wanted, "LOCAL_RANK", "1")))
                .isEqualTo(taken);
        assertThat(name(Device.auto().index(2), Map.of("LARDER_DEVICE", wanted)))
                .as("what the program says comes first")
                .isEqualTo("H200 NVL");
    }

    @Test
    void theEnvironmentMayWantTheHost() {
        assertThat(name(Device.opencl(), Map.of("LARDER_DEVICE", "Host"))).isNull();
        assertThat(open(new InstalledDevices(List.of(mixed)), Device.opencl(), Map.of("LARDER_DEVICE", "host")))
                .isNull();
        assertThat(mixed.opened).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, H200 NVL", "1, A100", "2, H200 SXM", "3, H200 NVL", "7, A100", "nonsense, H200 NVL", "-1, H200 NVL"
    })
    void ranksAreDealtOutOverTheBestKindInTurn(String rank, String taken) {
        assertThat(name(Device.auto(), Map.of("LOCAL_RANK", rank))).isEqualTo(taken);
    }

    @Test
    void aProcessorIsTakenOnlyWhereItsBackendWasAskedFor() {
        Provider processors = new Provider("opencl", "cpu:EPYC");

        assertThat(Device.opencl().choose(processors.devices, Map.of())).hasFieldOrPropertyWithValue("name", "EPYC");
        assertThatThrownBy(() -> Device.auto().choose(processors.devices, Map.of()))
                .hasMessageContaining("wanted=a gpu or accelerator devices=[opencl:0 EPYC]");
    }

    @Test
    void theProviderOfTheDeviceOpensIt() {
        Provider other = new Provider("fake", "gpu:Made up");

        assertThatThrownBy(() -> open(
                        new InstalledDevices(List.of(mixed, other)),
                        Device.opencl().named("made"),
                        Map.of()))
                .hasMessageContaining("opened");

        assertThat(mixed.opened).isEmpty();
        assertThat(other.opened).containsExactly("Made up");
    }

    @Test
    void aBackendThatCannotOpenItsDeviceLeavesItToTheNextUnlessItIsNamed() {
        for (Device wanted : List.of(Device.auto(), Device.auto().named("H200"))) {
            Provider first = new Provider("cuda", "gpu:H200").lacking();
            Provider second = new Provider("opencl", "gpu:H200");

            errorsOf(() -> open(new InstalledDevices(List.of(first, second)), (DeviceChoice) wanted, Map.of()));

            assertThat(first.opened).containsExactly("H200");
            assertThat(second.opened).containsExactly("H200");
        }
        Provider lacking = new Provider("cuda", "gpu:H200").lacking();
        Provider other = new Provider("opencl", "gpu:H200");
        InstalledDevices both = new InstalledDevices(List.of(lacking, other));
        assertThatThrownBy(() -> open(both, Device.cuda(), Map.of())).hasMessageContaining("opened by cuda");
        String errors = errorsOf(
                () -> open(both, Device.auto(), Map.of("LARDER_DEVICE", "cuda:0"))); // the reason, not "no such device"
        assertThat(errors).contains("reason=opened by cuda").hasLineCount(1);
        assertThat(other.opened).isEmpty();
    }

    @Test
    void withoutAProviderTheArtifactIsNamed() {
        assertThatThrownBy(() -> open(new InstalledDevices(List.of()), Device.opencl(), Map.of()))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("larder-loader-opencl");
        assertThat(InstalledDevices.find("no such backend").providers()).isEmpty();
    }

    @Test
    void whereTheHostWillDoAFailureIsOneWarning() {
        InstalledDevices broken = new InstalledDevices(List.of(new Provider("opencl").failing(ErrorCode.UNEXPECTED)));

        String errors = errorsOf(() ->
                assertThat(open(broken, Device.opencl().orHost(), Map.of())).isNull());

        assertThat(errors)
                .contains("batches stay in host memory: wanted=opencl first reason=driver is amiss")
                .hasLineCount(1);
        assertThatThrownBy(() -> open(broken, Device.opencl(), Map.of())).hasMessageContaining("driver is amiss");
    }

    @Test
    void aBackendThatIsMissingLeavesTheOthers() {
        Provider missing = new Provider("opencl").failing(ErrorCode.NOT_FOUND);
        Provider broken = new Provider("opencl").failing(ErrorCode.UNEXPECTED);
        Provider other = new Provider("fake", "gpu:Made up");

        assertThat(new InstalledDevices(List.of(missing, other)).devices()).isEqualTo(other.devices);
        assertThatThrownBy(new InstalledDevices(List.of(missing, new Provider("fake")))::devices)
                .hasMessageContaining("driver is amiss");
        assertThatThrownBy(new InstalledDevices(List.of(broken, other))::devices)
                .hasMessageContaining("driver is amiss");
    }

    @Test
    void whatIsOpenedWithoutADeviceIsTheHost() {
        assertThat(InstalledDevices.open(Device.host())).isNull();
        assertThat(Device.host().fallsBackToHost()).isTrue();
        assertThat(Device.auto().fallsBackToHost()).isTrue();
        assertThat(Device.opencl().fallsBackToHost()).isFalse();
        assertThat(Device.opencl().orHost().named("x").fallsBackToHost()).isTrue();
    }
}
