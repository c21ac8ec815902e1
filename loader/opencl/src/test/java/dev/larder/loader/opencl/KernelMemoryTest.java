package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.loader.device.KernelCase;
import dev.larder.loader.device.KernelSweep;
import dev.larder.testing.Rounds;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs kernels in a simulator that watches every access: nothing is read or written outside its memory, nothing raced for. */
class KernelMemoryTest {
    private static final String BROKEN = """
            __kernel void broken(uint samples, __global const int *control, __global uchar *target, __global const uchar *source) {
              target[get_global_id(0)] = source[1 << 20];
            }
            """;

    @TempDir
    private Path folder;

    @Test
    void noKernelReadsOrWritesOutsideItsMemory() throws Exception {
        Rounds rounds = Rounds.of("kernels in the simulator", 20);
        assertThat(simulated(Integer.toString(rounds.count()), Long.toString(rounds.seed())))
                .isEmpty();
    }

    @Test
    void theSimulatorSeesWhatIsRead() throws Exception {
        assertThat(simulated("broken", "0")).contains("Invalid read");
    }

    /** Runs {@link #main} in a JVM whose only OpenCL device is the simulator, and returns what that complains about. */
    private String simulated(String kernels, String seed) throws IOException, InterruptedException {
        Optional<Path> simulator = simulator();
        assumeTrue(simulator.isPresent(), "oclgrind is not installed");
        Path log = folder.resolve("complaints");
        Path output = folder.resolve("output");
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder =
                new ProcessBuilder(java, "-Xmx256m", "-cp", classPath, KernelMemoryTest.class.getName(), kernels, seed);
        builder.environment().remove("POCL_DEVICES");
        builder.environment()
                .putAll(Map.of(
                        "OCL_ICD_VENDORS",
                        simulator.get().toString(),
                        // optimized kernels may call LLVM's saturating subtraction, which the simulator lacks
                        "OCLGRIND_BUILD_OPTIONS",
                        "-cl-opt-disable",
                        "OCLGRIND_DATA_RACES",
                        "1",
                        "OCLGRIND_LOG",
                        log.toString()));
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(20, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        } finally {
            process.destroyForcibly();
        }
        return Files.readString(log);
    }

    /** Finds the library beside the command of that name. */
    private static Optional<Path> simulator() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(entry -> Path.of(entry, "..", "lib", "oclgrind", "liboclgrind-rt-icd.so")
                        .normalize())
                .filter(Files::exists)
                .findFirst();
    }

    /** Runs so many random kernels from a seed, or one that reads what it must not. */
    public static void main(String[] arguments) {
        try (KernelDevice device = new KernelDevice()) {
            if (arguments[0].equals("broken")) {
                try (KernelDevice.Built built = device.build(BROKEN, "broken")) {
                    built.run(new int[1], 1, 1, ByteBuffer.allocate(4), 64, List.of(new byte[64]));
                }
                return;
            }
            // what they make is not looked at: the simulator rounds 64-bit integers twice on the way to floats
            for (KernelCase each :
                    new KernelSweep(Long.parseLong(arguments[1])).cases(Integer.parseInt(arguments[0]))) {
                new KernelGroup(List.of(each)).run(device);
            }
        }
    }
}
