package dev.larder.loader.cuda.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.loader.device.Pictures;
import dev.larder.loader.internal.cuda.CudaLibrary;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real frameworks take tensors of batches: Python runs in the process of the loader, where there is one with the framework. */
@Timeout(120)
@ExtendWith(CudaStub.class)
class DlpackFrameworksTest {
    /** Tells where Python's library is and what it imports from, if it has the framework and the library. */
    private static final String QUESTION = """
            import importlib.util, os, sys, sysconfig
            library = os.path.join(sysconfig.get_config_var('LIBDIR') or '', sysconfig.get_config_var('INSTSONAME') or '')
            if importlib.util.find_spec('%1$s') and os.path.isfile(library) and '.so' in library:
                import importlib.metadata
                version = [int(part) for part in importlib.metadata.version('%1$s').split('.')[:2] if part.isdigit()]
                versioned = version >= {'numpy': [2, 1], 'torch': [2, 10]}.get('%1$s', [99])
                print(library, sys.base_prefix, ':'.join(p for p in sys.path if p), versioned, sep='\\n')
            """;

    private record Python(String library, String home, String path, boolean takesVersioned) {}

    private static Optional<Python> find(String framework) {
        return Stream.of(System.getenv().getOrDefault("LARDER_TEST_PYTHON", ""), "/usr/bin/python3")
                .filter(program -> !program.isEmpty() && Files.isExecutable(Path.of(program)))
                .flatMap(program -> ask(program, framework).stream())
                .findFirst();
    }

    private static Optional<Python> ask(String program, String framework) {
        try {
            Process process = new ProcessBuilder(program, "-c", QUESTION.formatted(framework))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            String[] lines = said.split("\n", -1);
            return lines.length < 4
                    ? Optional.empty()
                    : Optional.of(new Python(lines[0], lines[1], lines[2], lines[3].equals("True")));
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> environment(Python python) {
        String jax = CudaStub.isOfGpu() ? "XLA_PYTHON_CLIENT_PREALLOCATE=false" : "JAX_PLATFORMS=cpu";
        return List.of("env", "PYTHONHOME=" + python.home(), "OMP_NUM_THREADS=1", jax);
    }

    @ParameterizedTest
    @ValueSource(strings = {"torch", "numpy", "jax"})
    void aFrameworkTakesTensorsAndTheBatchEndsWithTheLastView(String framework) {
        Optional<Python> found = find(framework);
        assumeTrue(found.isPresent(), "no python3 with " + framework + " and a shared library");
        Python python = found.orElseThrow();
        List<String> flags = new ArrayList<>(ChildJvm.libraryFlags());
        flags.addAll(List.of(
                "-Xmx512m", "-Xss4m", "-D" + CudaLibrary.PROPERTY + "=" + System.getProperty(CudaLibrary.PROPERTY)));
        try (Pictures pictures = new Pictures();
                ChildJvm child = ChildJvm.start(
                        environment(python),
                        System.getProperty("java.class.path"),
                        flags,
                        DlpackProgram.class.getName(),
                        pictures.store().toString(),
                        python.library(),
                        python.path(),
                        framework,
                        python.takesVersioned() ? "versioned" : "",
                        CudaStub.isOfGpu() ? "gpu" : "")) {
            assertThat(child.awaitExit()).as(child.errors()).isZero();
            List<String> said = child.remainingLines();
            assertThat(said).contains("left=0").anyMatch(line -> line.startsWith("framework=" + framework));
            int batches = CudaStub.isOfGpu() && framework.equals("numpy") ? 6 : 12;
            assertThat(said.stream().filter(line -> line.startsWith("batch=Batch{closed}")))
                    .hasSize(batches);
            assertThat(said.stream().filter(line -> line.endsWith(" versioned")))
                    .hasSize(python.takesVersioned() ? batches / 2 : 0);
        }
    }
}
