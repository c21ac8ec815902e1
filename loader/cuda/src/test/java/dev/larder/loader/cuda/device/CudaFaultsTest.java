package dev.larder.loader.cuda.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.Pictures;
import dev.larder.loader.internal.device.InstalledDevices;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A driver and a device that fail. {@link CudaStub} fails a test in which something is left then. */
@Timeout(120)
@ExtendWith(CudaStub.class)
class CudaFaultsTest {
    private final Pictures pictures = new Pictures();

    private LoaderBuilder loader() {
        return pictures.loader().device(CudaDevice.of(0));
    }

    private static @Nullable LarderException failureOf(Loader loader) {
        try {
            loader.epoch(0).forEach(Batch::size);
            Pictures.sum(loader.epoch(1));
            return null;
        } catch (LarderException e) {
            return e;
        }
    }

    @Test
    void aKernelThatFailsEndsTheLoaderNamingTheBatchAndTheDriversWord() {
        try (Loader loader = loader().deviceMode(DeviceMode.STREAM).build()) {
            CudaStub.failOperation(7, CudaStub.ILLEGAL_ADDRESS);

            // who hears of it first: the wait for that batch, or the submission of the one after it
            assertThat(failureOf(loader))
                    .message()
                    .containsPattern("device failed|cannot give a batch to the device")
                    .contains("batch=", "CUDA_ERROR_ILLEGAL_ADDRESS(700)");
            assertThatThrownBy(() -> loader.epoch(2).forEach(Batch::size)).hasMessageContaining("ILLEGAL_ADDRESS");
        }
    }

    @Test
    void afterAFailureThatStaysNothingElseIsTried() {
        try (Loader loader = loader().build()) {
            CudaStub.failOperation(0, CudaStub.ILLEGAL_ADDRESS);
            assertThat(failureOf(loader)).isNotNull();

            assertThatThrownBy(() -> loader().build())
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("CUDA_ERROR_ILLEGAL_ADDRESS");
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void whateverOperationFailsNothingHangsAndNothingIsLeft(DeviceMode mode) {
        for (int operation = 0; operation < 40; operation += 3) {
            CudaStub.failOperation(operation, CudaStub.ILLEGAL_ADDRESS);
            try (Loader loader = loader().deviceMode(mode).build()) {
                failureOf(loader);
            } catch (LarderException e) { // while resident arrays were copied
                assertThat(e).hasMessageContaining("CUDA_ERROR_ILLEGAL_ADDRESS");
            }
            assertThat(CudaStub.live()).as(mode + " " + operation).isEmpty();
            CudaStub.reset();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 700})
    void whateverCallFailsNothingHangsAndNothingIsLeft(int code) {
        int failed = 0;
        for (int call = 0; call < 240; call += 1 + call / 12) {
            CudaStub.failCall("*", call, code);
            try (Loader loader = loader().deviceMode(DeviceMode.STREAM).build()) {
                failed += failureOf(loader) == null ? 0 : 1;
            } catch (LarderException e) {
                failed++;
            }
            assertThat(CudaStub.live()).as("code=" + code + " call=" + call).isEmpty();
            CudaStub.reset();
        }
        assertThat(failed).isGreaterThan(30);
    }

    @Test
    void anOperationThatNeverEndsIsADeadlineAndItsMemoryIsLeftAlone() {
        Loader loader = loader().timeout(Duration.ofMillis(300))
                .deviceMode(DeviceMode.STREAM)
                .build();
        CudaStub.loseOperation(6);

        LarderException failure = failureOf(loader);
        assertThat(failure).isNotNull().extracting(LarderException::code).isEqualTo(ErrorCode.DEADLINE);
        assertThatThrownBy(loader::close)
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("device did not finish in time");
        assertThat(CudaStub.live()).containsKey("memory").containsKey("pinned").containsKey("streams");
        CudaStub.open();
        Awaitility.await()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("larder-")));
        CudaStub.leaveAsItIs();
    }

    @Test
    void theEndOfTheProcessIsNoFailure() {
        CudaStub.requireControl();
        Loader loader = loader().build();
        Iterator<Batch> batches = loader.epoch(0).iterator();
        batches.next().await(Duration.ofSeconds(20));

        for (String call : List.of("*", "cuCtxPushCurrent_v2")) { // as in a shutdown hook that comes late
            CudaStub.failCall(call, 0, 4);
        }

        loader.close();
        CudaStub.set("ended", 1); // the driver has given all back by then
        CudaStub.leaveAsItIs();
    }

    @Test
    void aDriverWithoutADeviceSaysSo() {
        CudaStub.set("devices", 0);

        assertThatThrownBy(() -> InstalledDevices.open(Device.cuda()))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("CUDA driver has no device: code=CUDA_ERROR_NO_DEVICE(100)");
        assertThat(InstalledDevices.open(Device.cuda().orHost())).isNull();
    }

    @Test
    void aDriverThatIsAmissKeepsNobodyFromOtherDevices() {
        CudaStub.failCall("cuInit", 0, 803);

        assertThatThrownBy(() -> new CudaProvider().devices())
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH(803)");
    }

    @Test
    void pagesThatCannotBeLockedAreNamedWithoutRemediesOfOthers() {
        CudaStub.set("no_registering", 1);

        assertThatThrownBy(() -> loader().build())
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("cannot allocate host memory for the device: device=cuda:0 Stub 0")
                .hasMessageContaining("CUDA_ERROR_NOT_SUPPORTED");
    }

    @Test
    void aKernelThatTheDriverRefusesNamesBothVersions() {
        CudaStub.failCall("cuModuleLoadData", 0, 222);

        assertThatThrownBy(() -> loader().build())
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("the driver does not load a kernel")
                .hasMessageContaining("CUDA_ERROR_UNSUPPORTED_PTX_VERSION(222)")
                .hasMessageContaining("driver=13.0 compiler=NVRTC 13.0 ")
                .hasMessageContaining("$LARDER_NVRTC");
    }

    @AfterEach
    void close() {
        pictures.close();
    }
}
