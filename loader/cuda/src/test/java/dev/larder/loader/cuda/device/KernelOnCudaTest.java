package dev.larder.loader.cuda.device;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.KernelCase;
import dev.larder.loader.device.KernelSweep;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceKernel;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Kernels as C++, on the stub; and that NVIDIA's own compiler takes them, where it is found. */
@Timeout(120)
@ExtendWith(CudaStub.class)
class KernelOnCudaTest {
    private static final int CASES = 14;
    private static final int ROWS = 30;

    private static List<KernelCase> usual() {
        float[] means = {0.49f, 0.48f, 0.44f};
        float[] deviations = {0.2f, 0.21f, 0.22f};
        Transform augment = new Transform()
                .randomCrop(16, 16, 4)
                .randomFlip(0.5f)
                .toFloat()
                .normalize(means, deviations)
                .channelsFirst();
        float[] many = new float[20];
        Arrays.fill(many, 0.25f);
        float[] edges = many.clone();
        edges[3] = Float.POSITIVE_INFINITY; // in a table, where there is no other way to write it
        edges[4] = Float.NaN;
        KernelSource.Rows staged = KernelSource.Rows.staged();
        return List.of(
                make(new Transform(), "|u1", KernelSource.Rows.resident(7, 5).startingAt(192), 3, 5),
                make(augment.cast("<f2"), "|u1", KernelSource.Rows.resident(13, 3), 16, 16, 3),
                make(new Transform().flip().channelsFirst(), "<c16", staged, 5, 6, 3),
                make(new Transform().toFloat().normalize(edges, many), "|u1", staged, 20),
                make(new Transform().cast(">i2"), ">f8", staged, 64),
                make(
                        new Transform().toFloat().normalize(means, deviations).randomCrop(9, 10, 3),
                        "|u1",
                        staged,
                        16,
                        16,
                        3));
    }

    private static KernelCase make(Transform transform, String stored, KernelSource.Rows rows, long... shape) {
        Dtype dtype = Dtype.parse(stored);
        int elements = (int) Arrays.stream(shape).reduce(1, (a, b) -> a * b);
        byte[] array = KernelCase.values(dtype, ROWS * elements, new Random(5));
        int[] batch = new Random(6).ints(33, 0, ROWS).toArray();
        return new KernelCase(transform, dtype, shape, rows, array, batch);
    }

    @Test
    void usualTransformsAndAnyStepsGiveTheBytesOfTheHost() {
        long seed = System.nanoTime();
        System.out.println("seed=" + seed);
        List<KernelCase> cases = new ArrayList<>(usual());
        cases.addAll(new KernelSweep(seed).cases(CASES));
        try (DeviceBackend backend =
                CudaDevice.of(0).with(DeviceLoaderOnCudaTest.POISONED).open()) {
            for (KernelCase each : cases) {
                assertThat(each.withPlainNans(run(backend, each)))
                        .as("%s", each)
                        .isEqualTo(each.withPlainNans(each.expected()));
            }
        }
    }

    private static byte[] run(DeviceBackend backend, KernelCase each) {
        List<DeviceMemory> memories = new ArrayList<>();
        boolean controlled = each.kernel().controlInts() > 0;
        DeviceMemory control = controlled ? upload(backend, each.control(), memories) : null;
        List<DeviceMemory> sources = each.sources().stream()
                .map(source -> upload(backend, ByteBuffer.wrap(source), memories))
                .toList();
        DeviceMemory target = backend.allocateDevice(each.targetBytes());
        memories.add(target);
        try (DeviceKernel.Call call = backend.compile(each.kernel()).bind(control, target, sources)) {
            backend.consumer().launch(call, each.samples());
            return Rig.read(backend, target);
        } finally {
            memories.forEach(DeviceMemory::close);
        }
    }

    private static DeviceMemory upload(DeviceBackend backend, ByteBuffer bytes, List<DeviceMemory> memories) {
        DeviceMemory memory = backend.allocateDevice(bytes.capacity());
        memories.add(memory);
        try (HostMemory staging = backend.allocate(bytes.capacity())) {
            staging.bytes().put(0, bytes, 0, bytes.capacity());
            backend.consumer().upload(staging, 0, memory, 0, bytes.capacity());
            assertThat(backend.consumer().drain(Rig.SOON)).isTrue();
        }
        return memory;
    }

    @Test
    void moreSamplesThanOneDimensionHasGroups() {
        CudaKernelCall.Groups wide = CudaKernelCall.Groups.of(1000, 1024);
        assertThat(wide).isEqualTo(new CudaKernelCall.Groups(4, 256, 1));
        assertThat(wide.down(65_535)).isEqualTo(65_535);
        assertThat(wide.deep(65_535)).isEqualTo(1);
        assertThat(wide.down(65_536)).isEqualTo(65_535);
        assertThat(wide.deep(65_536)).isEqualTo(2);
        assertThat(CudaKernelCall.Groups.of(3, 1024)).isEqualTo(new CudaKernelCall.Groups(1, 4, 64));

        CudaStub.set("max_threads", 1);
        int samples = 70_000;
        byte[] array = Rig.random(samples, 3);
        int[] batch = IntStream.range(0, samples).toArray();
        KernelCase many = new KernelCase(
                new Transform(), Dtype.parse("|u1"), new long[] {1}, KernelSource.Rows.staged(), array, batch);
        try (DeviceBackend backend =
                CudaDevice.of(0).with(DeviceLoaderOnCudaTest.POISONED).open()) {
            assertThat(run(backend, many)).isEqualTo(array);
        }
    }

    @Test
    void aSourceIsCompiledOnce() {
        CudaStub.requireControl();
        try (DeviceBackend backend = CudaDevice.of(0).open()) {
            for (int i = 0; i < 3; i++) {
                assertThat(backend.compile(Rig.copy(100, KernelSource.Rows.staged())))
                        .isNotNull();
            }
            assertThat(CudaStub.live()).containsEntry("modules", 1L);
        }
    }

    @Test
    void whatDoesNotCompileSaysWhy() {
        assertThatThrownBy(() -> Nvrtc.system().compile("__kernel void larder_samples(uint x) { nonsense; }", 90))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNEXPECTED))
                .hasMessageContaining("cannot compile a kernel: call=nvrtcCompileProgram")
                .hasMessageContaining("NVRTC_ERROR_COMPILATION(6)")
                .hasMessageContaining("architecture=sm_90")
                .hasMessageContaining("nonsense");
    }

    @Test
    void withoutACompilerThereIsARemedy(@TempDir Path folder) {
        assertThatThrownBy(() -> Nvrtc.find(NvrtcPlaces.of(Map.of(NvrtcPlaces.VARIABLE, folder.toString()), 13)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("no NVRTC to compile kernels for CUDA")
                .hasMessageContaining("pip install nvidia-cuda-nvrtc")
                .hasMessageContaining("Device.opencl()");
        assertThatThrownBy(() -> Nvrtc.find(List.of("libnvrtc-has-none.so.13")))
                .hasMessageContaining("tried=[libnvrtc-has-none.so.13: ");
    }

    @Test
    void itIsFoundInToolkitsAndWheelsTheDriversVersionFirst(@TempDir Path folder) throws Exception {
        Path wheel = folder.resolve("lib/python3.12/site-packages/nvidia/cu13/lib");
        Path older = folder.resolve("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
        Path toolkit = folder.resolve("cuda/lib64");
        for (Path each : List.of(
                wheel.resolve("libnvrtc.so.13"),
                older.resolve("libnvrtc.so.12"),
                toolkit.resolve("libnvrtc.so.13"),
                toolkit.resolve("libnvrtc.so.12"))) {
            Files.createDirectories(each.getParent());
            Files.createFile(each);
        }
        Map<String, String> environment =
                Map.of("CUDA_HOME", folder + "/cuda", "VIRTUAL_ENV", folder.toString(), "HOME", "/none");

        assertThat(NvrtcPlaces.of(environment, 13))
                .startsWith(
                        toolkit + "/libnvrtc.so.13",
                        toolkit + "/libnvrtc.so.12",
                        wheel + "/libnvrtc.so.13",
                        older + "/libnvrtc.so.12",
                        "libnvrtc.so.13");
        assertThat(NvrtcPlaces.of(environment, 12))
                .startsWith(toolkit + "/libnvrtc.so.12", older + "/libnvrtc.so.12", "libnvrtc.so.12");
    }

    /** Without a GPU it compiles all the same: the text is C++ to it, and products and sums stay apart. */
    @Test
    void nvidiasOwnCompilerTakesTheSameText() {
        Nvrtc real = nvidias();
        List<KernelCase> cases = new ArrayList<>(usual());
        cases.addAll(new KernelSweep(7).cases(8));
        for (KernelCase each : cases) {
            assertThat(real.compile(each.kernel().text(), 90)).as("%s", each).startsWith(0x7f, 'E', 'L', 'F');
        }
        // newer than all that it knows
        String ptx = new String(real.compile(usual().get(5).kernel().text(), 91), US_ASCII);
        assertThat(ptx)
                .contains(".target sm_90")
                .contains("mul.")
                .contains("add.")
                .doesNotContain("fma.");
    }

    /** Finds it by a path: by its bare name JNA would give the one without a GPU that it has loaded. */
    private static Nvrtc nvidias() {
        Map<String, String> environment = Map.of(
                NvrtcPlaces.VARIABLE,
                System.getProperty("larder.nvrtc", ""),
                "HOME",
                System.getProperty("user.home", ""));
        List<String> places = NvrtcPlaces.of(environment, 13).stream()
                .filter(place -> place.startsWith("/") && Files.exists(Path.of(place)))
                .toList();
        assumeTrue(!places.isEmpty(), "no NVRTC of NVIDIA's on this machine; -Dlarder.nvrtc names one");
        return Nvrtc.find(places);
    }
}
