package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What only shows in a process that has not called OpenCL before. */
@Timeout(300)
class OpenClProcessTest {
    private static final String NOT_FOUND = "NOT_FOUND cannot load OpenCL: library=libOpenCL.so.1 reason=";

    private static ChildJvm start(List<String> prefix, List<String> flags, String what) {
        return ChildJvm.start(
                prefix,
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Stream.concat(ChildJvm.libraryFlags().stream(), flags.stream()).toList(),
                OpenClChild.class.getName(),
                what);
    }

    @Test
    void divisionByZeroStaysAnExceptionWhereNobodySetTheVariable() {
        List<String> bare = List.of("env", "-u", "POCL_SIGFPE_HANDLER");
        try (ChildJvm child = start(bare, List.of("-XX:TieredStopAtLevel=4"), "divide")) {
            assertThat(child.awaitLine()).isEqualTo("caught 200000");
            assertThat(child.awaitExit()).isZero();
        }
    }

    @Test
    void withoutTheLibraryEveryAnswerNamesTheRemedy() throws IOException {
        List<String> hidden =
                List.of("unshare", "-rm", "sh", "-c", "mount --bind /dev/null " + library() + " && exec \"$@\"", "sh");
        assumeTrue(canMount(), "mounting is not allowed here");
        try (ChildJvm child = start(hidden, List.of(), "list")) {
            requireRefusal(child);
        }
    }

    private static boolean canMount() throws IOException {
        Process probe = new ProcessBuilder("unshare", "-rm", "sh", "-c", "mount --bind /dev/null " + library())
                .inheritIO()
                .start();
        return probe.onExit().join().exitValue() == 0;
    }

    /** Returns the file that this JVM loaded. */
    private static Path library() throws IOException {
        OpenClLibrary.require();
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("/libOpenCL.so"))
                    .map(line -> Path.of(line.substring(line.indexOf('/'))))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void aLibraryOfThatNameThatIsAnotherIsRefused(@TempDir Path folder) throws IOException {
        Path any = Path.of(System.getProperty("java.home"), "lib", "libverify.so");
        Files.copy(any, folder.resolve("libOpenCL.so.1"));

        try (ChildJvm child = start(List.of("env", "LD_LIBRARY_PATH=" + folder), List.of(), "list")) {
            requireRefusal(child);
        }
    }

    private static void requireRefusal(ChildJvm child) {
        String first = child.awaitLine();
        assertThat(first).startsWith(NOT_FOUND).contains("install ocl-icd-libopencl1");
        assertThat(child.awaitLine()).isEqualTo(first);
        assertThat(child.awaitLine()).isEqualTo("auto null");
        assertThat(child.awaitLine()).isEqualTo("orHost null");
        assertThat(child.awaitExit()).isZero();
        assertThat(child.errors()).contains("batches stay in host memory");
    }

    @Test
    void withoutADriverTheAnswerNamesTheRemedy(@TempDir Path none) {
        try (ChildJvm child = start(List.of("env", "OCL_ICD_VENDORS=" + none), List.of(), "list")) {
            assertThat(child.awaitLine())
                    .startsWith("NOT_FOUND no OpenCL driver: drivers=" + none)
                    .contains("OCL_ICD_VENDORS");
            assertThat(child.awaitExit()).isZero();
        }
    }

    @Test
    void whatLiesInTheTemporaryFolderIsNeitherLoadedNorLeft(@TempDir Path folder) throws IOException {
        Path planted = Files.writeString(folder.resolve("libJOCL_2_0_6-linux-x86_64.so"), "not a library");

        try (ChildJvm child = start(List.of(), List.of("-Djava.io.tmpdir=" + folder), "run")) {
            assertThat(child.awaitLine()).isEqualTo("done null");
            assertThat(child.awaitExit()).isZero();
            assertThat(child.errors()).isEmpty();
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.filter(file -> file.toString().contains("JOCL"))).containsExactly(planted);
        }
    }

    @Test
    void aDeviceThatHangsIsLeftBehindInTime() {
        try (ChildJvm child = start(List.of(), List.of(), "stuck")) {
            String closed = child.awaitLine("closed ");

            assertThat(Integer.parseInt(closed.substring("closed ".length()))).isLessThan(5000);
            assertThat(child.awaitLine()).startsWith("left [CONTEXT, QUEUE");
            assertThat(child.awaitExit()).isZero();
            assertThat(child.errors()).contains("its memory stays allocated");
        }
    }
}
