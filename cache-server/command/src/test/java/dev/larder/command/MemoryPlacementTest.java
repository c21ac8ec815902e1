package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.gson.JsonParser;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.internal.control.BuildTurn;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.MemoryNodes;
import dev.larder.internal.posix.MemoryPolicy;
import dev.larder.internal.protocol.Request;
import dev.larder.npy.Dtype;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The policy for memory nodes of a daemon, as the kernel shows it. One node is enough: a policy may name it alone. */
@Timeout(300)
class MemoryPlacementTest {
    /** Binds to node 0, as {@code numactl --membind=0} does, and becomes the command. */
    private static final List<String> BOUND = List.of(
            "python3",
            "-c",
            "import ctypes, os, sys; nodes = (ctypes.c_ulong * 16)(1);"
                    + " number = 238 if os.uname().machine == 'x86_64' else 237;"
                    + " assert ctypes.CDLL(None).syscall(number, 2, nodes, 1025) == 0; os.execvp(sys.argv[1], sys.argv[1:])");

    @BeforeAll
    static void requirePolicies() {
        boolean isAllowed = CompletableFuture.supplyAsync(
                        () -> BulkIo.system().setMemoryPolicy(MemoryPolicy.interleave(MemoryNodes.parse("0"))),
                        task -> new Thread(task).start())
                .join();
        assumeThat(isAllowed).as("containers may forbid memory policies").isTrue();
    }

    @Test
    void everyThreadOfADaemonThatFillsTheStoreInterleavesOnRequest() {
        try (CommandProcess daemon = CommandProcess.serve("--numa", "interleave")) {
            assertThat(policies(daemon)).hasSizeGreaterThan(2).containsOnly("interleave:0");
            assertThat(policyOf(daemon)).isEqualTo("interleave:0");
            assertThat(daemon.ask("status").out()).contains("memory      interleave:0");
        }
    }

    @Test
    void aClientIsGivenThePolicyAndLeavesThatOfItsThread() {
        try (CommandProcess daemon = CommandProcess.serve("--numa", "interleave");
                BuildTurn turn = ControlClient.at(daemon.store())
                        .create(new Request.Create("other", Duration.ofMinutes(1), 0, false), ProgressListener.NONE)
                        .orElseThrow();
                Larder larder = Larder.connect(daemon.store());
                DatasetBuilder builder = larder.create("built", Dtype.parse("|u1"), 3 << 20)) {
            builder.publish();

            assertThat(turn.memoryPolicy()).hasToString("interleave:0");
            assertThat(BulkIo.system().memoryPolicy()).isEqualTo(MemoryPolicy.DEFAULT);
            assertThat(daemon.ask("verify", "built").code()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"'', bind:0", "--numa=local, default", "--numa=interleave, interleave:0"})
    void aPolicyThatTheDaemonInheritsStaysUnlessTheOptionDecides(String option, String policy) {
        try (CommandProcess daemon = CommandProcess.by(
                        BOUND,
                        LeavesNothingBehind.newStore(),
                        Stream.of("serve", option)
                                .filter(word -> !word.isEmpty())
                                .toArray(String[]::new))
                .awaitOut("Done caching.")) {
            assertThat(policies(daemon)).containsOnly(policy);
            assertThat(policyOf(daemon)).isEqualTo(policy);
        }
    }

    @Test
    void anUnknownPlacementIsRefused() {
        try (CommandProcess daemon = CommandProcess.start("serve", "--numa", "everywhere")) {
            assertThat(daemon.exitCode()).isEqualTo(2);
            assertThat(daemon.err()).contains("--numa", "INTERLEAVE", "LOCAL");
        }
    }

    private static String policyOf(CommandProcess daemon) {
        return JsonParser.parseString(daemon.ask("status", "--json").out())
                .getAsJsonObject()
                .get("memoryPolicy")
                .getAsString();
    }

    /** Returns the policies of the threads of the daemon, without those that belong to the JVM. */
    private static List<String> policies(CommandProcess daemon) {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + daemon.pid() + "/task"))) {
            return threads.filter(thread -> first(thread.resolve("comm")).startsWith("larder-"))
                    .map(thread -> first(thread.resolve("numa_maps")))
                    .filter(line -> !line.isEmpty())
                    .map(line -> line.split(" ", -1)[1])
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the first line of a file about a thread, or an empty text if the thread has ended. */
    private static String first(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.findFirst().orElse("");
        } catch (IOException | UncheckedIOException e) {
            return "";
        }
    }
}
