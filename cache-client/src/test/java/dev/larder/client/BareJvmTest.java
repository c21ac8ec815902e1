package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.LarderException;
import dev.larder.internal.error.Logs;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a trainer needs to have: the client, its messages, Agrona, JNA and the SLF4J API on the class path, and no flag; with Agrona 2 one. */
class BareJvmTest {
    private static final String AGRONA_2_FLAG = "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED";
    private static final Pattern CLASS_PATH_SEPARATOR = Pattern.compile(Pattern.quote(File.pathSeparator));

    @TempDir
    Path programs;

    private StoreFixture fixture;

    @BeforeEach
    void publish() throws IOException {
        fixture = StoreFixture.create();
        fixture.publish("d", Map.of("a", FixtureArray.floats(new float[] {1, 2, 3, 4}, 2, 2)));
        for (Class<?> program : List.of(Program.class, WarningProgram.class)) {
            String name = program.getName().replace('.', '/') + ".class";
            Path copy = programs.resolve(name);
            Files.createDirectories(copy.getParent());
            Files.copy(classesOf(program).resolve(name), copy);
        }
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    /** Reads in all ways, after loading every class of the client, so that whatever these need would be missed. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws Exception {
            try (Larder larder = Larder.connect(Path.of(arguments[0]));
                    Dataset dataset = larder.dataset("d")) {
                loadAllClasses(Path.of(arguments[1]));
                ArrayView view = dataset.array("a");
                UnsafeBuffer target = new UnsafeBuffer(ByteBuffer.allocateDirect(16));
                view.copyRows(new long[] {1, 0}, target, 0);
                float sum = view.getFloat(0, 1)
                        + view.row(1).getFloat(0)
                        + view.byteBuffer(1, 1).getFloat(4);
                if (sum != 9 || target.getFloat(0) != 3) {
                    throw new AssertionError(sum + " " + target.getFloat(0));
                }
            } catch (LarderException e) {
                System.err.println(e.getMessage());
                System.exit(e.code().number());
            }
        }

        private static void loadAllClasses(Path classes) throws Exception {
            try (Stream<Path> files = Files.walk(classes)) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".class")).toList()) {
                    String name = classes.relativize(file).toString().replace('/', '.');
                    if (!name.endsWith("-info.class")) {
                        Class.forName(name.substring(0, name.length() - ".class".length()));
                    }
                }
            }
        }
    }

    @Test
    void nothingElseIsNeededAndNothingIsPrinted() {
        Path agrona = jar("agrona");
        boolean isAgrona2 = agrona.getFileName().toString().startsWith("agrona-2.");
        try (ChildJvm child = start(isAgrona2 ? List.of(AGRONA_2_FLAG) : List.of(), agrona)) {
            assertThat(child.awaitExit()).as(child.errors()).isZero();
            assertThat(child.remainingLines()).isEmpty();
        }
    }

    /** Warns as of something that the garbage collector has found open. */
    static final class WarningProgram {
        private WarningProgram() {}

        public static void main(String[] arguments) {
            Throwable opened = new Throwable("opened here");
            opened.setStackTrace(new StackTraceElement[] {
                new StackTraceElement("dev.larder.client.Larder", "dataset", "Larder.java", 7),
                new StackTraceElement("Trainer", "train", "Trainer.java", 3)
            });
            Logs.of(WarningProgram.class).warn("never closed: dataset={}", "d", opened);
        }
    }

    @Test
    void aWarningNamesThePlaceInTheProgramOfItsUser() {
        try (ChildJvm child = start(WarningProgram.class, List.of(), jar("agrona"))) {
            assertThat(child.awaitExit()).isZero();
            assertThat(child.errors())
                    .contains("larder: warn: never closed: dataset=d: java.lang.Throwable: opened here"
                            + " at Trainer.train(Trainer.java:3)");
        }
    }

    @Test
    void withAgrona2TheMissingFlagIsNamedAtOnce() {
        try (ChildJvm child = start(List.of(), agrona2())) {
            assertThat(child.awaitExit()).as(child.errors()).isEqualTo(1);
            assertThat(child.errors())
                    .contains("the Agrona on the class path cannot read memory in this JVM")
                    .contains("Agrona 2 needs the JVM flag --add-exports java.base/jdk.internal.misc=ALL-UNNAMED");
        }
    }

    @Test
    void withAgrona2AndItsFlagAllIsWell() {
        try (ChildJvm child = start(List.of(AGRONA_2_FLAG), agrona2())) {
            assertThat(child.awaitExit()).as(child.errors()).isZero();
            assertThat(child.remainingLines()).isEmpty();
        }
    }

    private ChildJvm start(List<String> flags, Path agrona) {
        return start(Program.class, flags, agrona);
    }

    private ChildJvm start(Class<?> program, List<String> flags, Path agrona) {
        Path client = classesOf(Larder.class);
        String classPath = Stream.of(programs, client, agrona, jar("jna"), jar("slf4j-api"))
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        return ChildJvm.start(
                classPath, flags, program.getName(), fixture.store().toString(), client.toString());
    }

    private static Path classesOf(Class<?> type) {
        return Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }

    private static Path jar(String name) {
        Pattern file = Pattern.compile(Pattern.quote(name) + "-\\d.*\\.jar");
        return CLASS_PATH_SEPARATOR
                .splitAsStream(System.getProperty("java.class.path"))
                .map(Path::of)
                .filter(entry ->
                        file.matcher(String.valueOf(entry.getFileName())).matches())
                .findFirst()
                .orElseThrow(() -> new AssertionError("not on the class path: " + name));
    }

    private static Path agrona2() {
        Path jar = Path.of(Objects.requireNonNull(System.getProperty("larder.agrona2"), "set by the build"));
        assertThat(jar).exists();
        return jar;
    }
}
