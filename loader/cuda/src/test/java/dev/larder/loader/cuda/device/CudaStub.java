package dev.larder.loader.cuda.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.internal.cuda.CudaLibrary;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A CUDA driver and a compiler without a GPU, built of C by this machine's compilers: does what it is told to, and fails a test that
 * leaves something behind or misuses something. Without the compilers, tests are skipped.
 *
 * <p>{@code -Dlarder.cuda.library=libcuda.so.1} names the driver of a GPU instead. Tests that control the driver are then skipped, and
 * nothing is counted.
 */
final class CudaStub implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {
    static final int ILLEGAL_ADDRESS = 700;

    private static final List<String> KINDS =
            List.of("contexts", "streams", "events", "modules", "memory", "pinned", "entered", "misuse", "pageable");

    /** What tests before left. */
    private static final Map<String, Long> LEFT = new LinkedHashMap<>();

    @Override
    public void beforeAll(ExtensionContext context) {
        if (!isOfGpu()) {
            build();
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        reset();
        leaveAsItIs(); // what a failed test left fails that one alone
    }

    @Override
    public void afterEach(ExtensionContext context) {
        assertThat(live()).isEmpty();
        reset();
    }

    /** Returns whether tests use the driver of a GPU: it is named without a path. */
    static boolean isOfGpu() {
        return !System.getProperty(CudaLibrary.PROPERTY).contains("/");
    }

    /** Skips a test that controls the driver, if it is that of a GPU. */
    static void requireControl() {
        assumeFalse(isOfGpu(), "needs a driver without a GPU, which fails and waits when it is told to");
    }

    // ---- building

    private static void build() {
        for (String compiler : List.of("gcc", "g++")) {
            assumeTrue(hasProgram(compiler), "no " + compiler + " on this machine to build a driver without a GPU");
        }
        Path library = Path.of(System.getProperty(CudaLibrary.PROPERTY, ""));
        try {
            Files.createDirectories(library.getParent());
            compile("cuda.c", library, "-lpthread", "-ldl");
            compile("nvrtc.c", library.resolveSibling("libnvrtc.so.13"), "-ldl");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean hasProgram(String name) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
    }

    /** Compiles anew only what has changed: each JVM of the tests asks. */
    private static void compile(String name, Path target, String... libraries)
            throws IOException, InterruptedException {
        Path source = target.resolveSibling(name);
        try (InputStream text = CudaStub.class.getResourceAsStream("/stub/" + name)) {
            byte[] bytes = text.readAllBytes();
            if (Files.exists(target) && Files.exists(source) && Files.mismatch(source, write(bytes)) == -1) {
                return;
            }
            Files.write(source, bytes);
        }
        Path made = Files.createTempFile(target.getParent(), "making", ".so");
        List<String> command = new ArrayList<>(List.of("gcc", "-O1", "-g", "-shared", "-fPIC", "-o", made.toString()));
        command.add(source.toString());
        command.addAll(List.of(libraries));
        Process compiler = new ProcessBuilder(command).inheritIO().start();
        assertThat(compiler.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(compiler.exitValue()).isZero();
        Files.move(made, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    private static Path write(byte[] bytes) throws IOException {
        Path copy = Files.createTempFile("stub", ".c");
        copy.toFile().deleteOnExit();
        return Files.write(copy, bytes);
    }

    // ---- telling and asking

    private static Function function(String name) {
        requireControl();
        Posix.system();
        return NativeLibrary.getInstance(System.getProperty(CudaLibrary.PROPERTY))
                .getFunction(name, Function.C_CONVENTION);
    }

    static void set(String name, long value) {
        function("stub_set").invokeVoid(new Object[] {name, value});
    }

    /** Lets the so-manieth call of a function fail, from 0, and all after it; {@code *} stands for any that is not for cleaning up. */
    static void failCall(String name, int nth, int code) {
        function("stub_fail_call").invokeVoid(new Object[] {name, nth, code});
    }

    /** Lets the so-manieth copy, fill or kernel from now fail, from 0. */
    static void failOperation(int nth, int code) {
        function("stub_fail_operation").invokeVoid(new Object[] {nth, code});
    }

    static void loseOperation(int nth) {
        function("stub_lose_operation").invokeVoid(new Object[] {nth});
    }

    /** Lets nothing further of a stream begin, until {@link #open}. */
    static void hold(long stream) {
        assertThat(function("stub_hold").invokeInt(new Object[] {stream})).isZero();
    }

    static void open() {
        function("stub_open").invokeVoid(new Object[0]);
    }

    static void reset() {
        if (isOfGpu()) {
            return;
        }
        boolean lost = count("lost") != 0;
        function("stub_reset").invokeVoid(new Object[0]);
        if (lost) { // pages of a context that is lost stay locked, and the context with them
            LEFT.put("contexts", count("contexts"));
        }
    }

    static long count(String name) {
        return (Long) function("stub_live").invoke(Long.class, new Object[] {name});
    }

    /** Counts what there is beyond what was left before; empty where there is nothing. */
    static Map<String, Long> live() {
        Map<String, Long> live = new LinkedHashMap<>();
        for (String kind : isOfGpu() ? List.<String>of() : KINDS) {
            long more = count(kind) - LEFT.getOrDefault(kind, 0L);
            if (more != 0 && !(kind.equals("contexts") && count("lost") != 0)) {
                live.put(kind, more);
            }
        }
        return live;
    }

    /** Takes what there is now for left on purpose: memory that a device may still use. */
    static void leaveAsItIs() {
        for (String kind : isOfGpu() ? List.<String>of() : KINDS) {
            if (!kind.equals("misuse")) {
                LEFT.put(kind, count(kind));
            }
        }
    }
}
