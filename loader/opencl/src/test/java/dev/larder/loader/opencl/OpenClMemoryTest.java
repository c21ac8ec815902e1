package dev.larder.loader.opencl;

import static java.nio.file.StandardOpenOption.READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource.Rows;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jocl.CL;
import org.jocl.cl_mem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
@ExtendWith(LeavesNoObjects.class)
class OpenClMemoryTest {
    @ParameterizedTest
    @ValueSource(longs = {1, 4095, 4096, 1_000_003})
    void hostMemoryBeginsOnAPageAndIsZero(long byteSize) {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT);
                HostMemory memory = backend.allocate(byteSize)) {
            ByteBuffer bytes = memory.bytes();

            assertThat(bytes.capacity()).isEqualTo((int) byteSize);
            assertThat(LibOpenCl.address(bytes) % HostMemory.ALIGNMENT).isZero();
            assertThat(bytes).isEqualTo(ByteBuffer.allocate((int) byteSize));
        }
    }

    @Test
    void newMemoryIsThereAtOnce() {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT);
                DeviceMemory memory = backend.allocateDevice(12_345)) {
            assertThat(memory.byteSize()).isEqualTo(12_345);
            assertThat(memory.handle()).isNotZero();
            assertThat(Rig.read(backend, memory)).containsOnly(0xA5);
        }
    }

    @Test
    void aDeviceThatIsFullSaysHowFullAndWorksOn() {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT.memoryBytes(1000))) {
            DeviceMemory first = backend.allocateDevice(600);
            requireNoSpace(() -> backend.allocateDevice(401), "needed=401", "allocated=600", "memory=1000");

            assertThatCode(() -> backend.allocateDevice(400).close()).doesNotThrowAnyException();
            first.close();
            assertThatCode(() -> backend.allocateDevice(1000).close()).doesNotThrowAnyException();
        }
    }

    @Test
    void aPieceThatIsTooLargeSaysHowLargeItMayBe() {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT.maxAllocationBytes(500))) {
            assertThat(backend.info().maxAllocationBytes()).isEqualTo(500);

            requireNoSpace(() -> backend.allocateDevice(501), "needed=501", "maxAllocation=500");
        }
    }

    @Test
    void mappingMemoryOfADeviceThatHangsEndsAtItsDeadline() {
        OpenClOptions options = OpenClOptions.DEFAULT.patience(Duration.ofMillis(200));
        try (DeviceBackend backend = OpenClRig.openBackend(options);
                Gate hangs = new Gate(backend)) {
            Session session = ((OpenClQueue) backend.uploads()).session();
            cl_mem buffer = OpenClMemory.create(session, CL.CL_MEM_READ_WRITE | CL.CL_MEM_ALLOC_HOST_PTR, 4096, null);
            try (OpenClQueue queue = session.createQueue(false)) {
                hangs.before(queue);

                assertThatThrownBy(() -> queue.map(buffer, 4096))
                        .isInstanceOfSatisfying(
                                LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE))
                        .hasMessageContaining("device did not reach the fence in time");

                hangs.open();
                assertThat(queue.drain(Rig.SOON)).isTrue();
            }
            CL.clReleaseMemObject(buffer);
        }
    }

    @Test
    void aDeviceThatRefusesSaysSoAndWorksOn() {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT)) {
            long most = backend.info().maxAllocationBytes();
            Session session = ((OpenClQueue) backend.uploads()).session();
            Session boundless =
                    new Session(session.context(), session.device(), boundless(backend.info()), session.options());

            requireNoSpace(() -> OpenClMemory.allocate(boundless, 4 * most), "needed=" + 4 * most);

            assertThat(boundless.reservedBytes()).isZero();
            backend.allocateDevice(10).close();
        }
    }

    private static DeviceInfo boundless(DeviceInfo info) {
        return new DeviceInfo(
                info.backend(),
                info.index(),
                info.name(),
                info.kind(),
                info.platform(),
                info.driver(),
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                info.computeUnits(),
                info.unifiedMemory(),
                info.doubles(),
                info.exactFloats());
    }

    private static void requireNoSpace(ThrowingCallable allocation, String... parts) {
        assertThatThrownBy(allocation)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageContainingAll(parts);
    }

    @Test
    void pagesOfAFileAreReadInPlace(@TempDir Path folder) throws IOException {
        int rowBytes = 64;
        byte[] all = Rig.random(3 * 4096 + 1000, 1);
        Path file = Files.write(folder.resolve("rows"), all);
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT);
                FileChannel channel = FileChannel.open(file, READ)) {
            requireHostsMemory(backend);
            ByteBuffer pages = channel.map(FileChannel.MapMode.READ_ONLY, 0, all.length);
            pages.position(4096);
            try (DeviceMemory shared = backend.share(pages).orElseThrow();
                    DeviceMemory target = backend.allocateDevice(100L * rowBytes);
                    DeviceKernel.Call call =
                            backend.compile(Rig.copy(rowBytes, Rows.staged())).bind(null, target, List.of(shared))) {
                assertThat(shared.byteSize()).isEqualTo(all.length - 4096);
                backend.kernels().launch(call, 100);
                Rig.pass(backend.kernels(), backend.consumer());

                assertThat(ByteBuffer.wrap(Rig.read(backend, target)))
                        .isEqualTo(ByteBuffer.wrap(all, 4096, 100 * rowBytes));
            }
        }
    }

    @Test
    void sharedPagesTakeNoneOfTheDevicesMemory() {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT.memoryBytes(10));
                HostMemory pages = HostMemory.allocate(8192)) {
            requireHostsMemory(backend);
            try (DeviceMemory shared = backend.share(pages.bytes()).orElseThrow()) {
                pages.bytes().put(5000, (byte) 7);

                assertThat(Rig.read(backend, shared)[5000]).isEqualTo((byte) 7);
            }
        }
    }

    private static void requireHostsMemory(DeviceBackend backend) {
        assumeTrue(backend.info().unifiedMemory(), "the device has memory of its own");
    }

    @Test
    void whatDoesNotBeginOnAPageIsNotShared() {
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT);
                HostMemory pages = HostMemory.allocate(8192)) {
            assertThatThrownBy(() -> backend.share(pages.bytes().duplicate().position(128)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> backend.share(ByteBuffer.allocate(4096)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void whatFailsOnTheWayLeavesNothing() {
        List<DeviceMemory> all = new ArrayList<>();
        try (DeviceBackend backend = OpenClRig.openBackend(OpenClOptions.DEFAULT.memoryBytes(100))) {
            assertThatThrownBy(() -> {
                        while (true) {
                            all.add(backend.allocateDevice(30));
                        }
                    })
                    .isInstanceOf(LarderException.class);
            assertThat(all).hasSize(3);
            all.forEach(DeviceMemory::close);
        }
    }
}
