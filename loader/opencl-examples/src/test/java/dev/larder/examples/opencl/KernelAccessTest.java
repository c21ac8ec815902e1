package dev.larder.examples.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jocl.cl_mem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Looks for accesses outside of memory, races between work-items, and values that nobody wrote: on oclgrind, a simulator. */
@Tag("slow")
class KernelAccessTest {
    @TempDir
    Path folder;

    @Test
    void theSimulatorHasNothingToComplainAbout() throws Exception {
        Optional<Path> simulator = simulator();
        assumeTrue(simulator.isPresent(), "oclgrind is not installed");
        Path log = folder.resolve("complaints");
        Path output = folder.resolve("output");

        int code = learn(simulator.get(), log, output);

        assertThat(code).as(Files.readString(output)).isZero();
        assertThat(output).content().contains("Oclgrind");
        assertThat(log).isEmptyFile();
    }

    private static int learn(Path simulator, Path log, Path output) throws IOException, InterruptedException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder =
                new ProcessBuilder(java, "-Xmx256m", "-cp", classPath, KernelAccessTest.class.getName());
        builder.environment().remove("POCL_DEVICES");
        builder.environment()
                .putAll(Map.of(
                        "OCL_ICD_VENDORS", simulator.toString(),
                        "OCLGRIND_DATA_RACES", "1",
                        "OCLGRIND_UNINITIALIZED", "1",
                        "OCLGRIND_CHECK_API", "1",
                        "OCLGRIND_LOG", log.toString()));
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Finds the library beside the command of that name. */
    private static Optional<Path> simulator() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(entry -> Path.of(entry, "..", "lib", "oclgrind", "liboclgrind-rt-icd.so")
                        .normalize())
                .filter(Files::exists)
                .findFirst();
    }

    /** Takes two steps, with sizes of which none fits the work-groups. */
    public static void main(String[] arguments) {
        Mlp.Size size = new Mlp.Size(35, 33, 5, 9);
        try (OwnDevice device = OwnDevice.open("auto");
                Kernels kernels = Kernels.compile(device);
                Scores scores = new Scores(device)) {
            System.out.println(device.info());
            Mlp network = new Mlp(device, kernels, size, 1);
            for (int samples : new int[] {9, 4}) {
                cl_mem labels = device.zeros(samples, 1).memory(); // zeros of either type have the same bits
                network.learn(device.zeros(samples, size.inputs()), labels, 0.1f);
                scores.add(network, samples);
            }
            System.out.println(scores.finish());
        }
    }
}
