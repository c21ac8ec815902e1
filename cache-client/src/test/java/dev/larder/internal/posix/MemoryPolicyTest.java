package dev.larder.internal.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryPolicyTest {
    private static final long MIB = 1 << 20;

    private final BulkIo io = BulkIo.system();
    private final BitSet first = MemoryNodes.parse("0");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0|{0}", "0-1|{0, 1}", "0,2-4,7|{0, 2, 3, 4, 7}", "''|{}", "63-65|{63, 64, 65}"})
    void theKernelsListsAreReadAndWritten(String list, String nodes) {
        BitSet read = MemoryNodes.parse(list);

        assertThat(read).hasToString(nodes);
        assertThat(MemoryNodes.format(read)).isEqualTo(list);
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "local", "bind:1", "prefer:0", "interleave:0-1,4", "weighted-interleave:0-3"})
    void aPolicyIsReadAsItIsWritten(String text) {
        assertThat(MemoryPolicy.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "random:0", "interleave:x"})
    void anUnknownPolicyIsTheKernelsOwn(String text) {
        assertThat(MemoryPolicy.parse(text)).isEqualTo(MemoryPolicy.DEFAULT);
    }

    @ParameterizedTest
    @CsvSource({
        "0, default, , default",
        "0-1, default, , interleave:0-1",
        "0-1, bind:1, , bind:1",
        "0-3, interleave:0-1, , interleave:0-1",
        "0-1, bind:1, INTERLEAVE, interleave:0-1",
        "0, default, INTERLEAVE, interleave:0",
        "0-1, interleave:0-1, LOCAL, default",
        "0-1, default, LOCAL, default"
    })
    void aRequestDecidesThenAnInheritedPolicyThenTheNumberOfNodes(
            String nodes, String inherited, MemoryPolicy.@Nullable Placement request, String chosen) {
        MemoryPolicy policy = MemoryPolicy.choose(MemoryNodes.parse(nodes), MemoryPolicy.parse(inherited), request);

        assertThat(policy).hasToString(chosen);
    }

    @ParameterizedTest
    @CsvSource({
        "default, false",
        "bind:0-1, false",
        "interleave:0, false",
        "interleave:0-1, true",
        "weighted-interleave:0-1, true"
    })
    void onlyInterleavingOverSeveralNodesSpreads(String policy, boolean isSpread) {
        assertThat(MemoryPolicy.parse(policy).isSpread()).isEqualTo(isSpread);
    }

    /** The kernel interleaves pages of a file by their number. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 8, 12, 16, 32})
    void piecesThatBecomeHugePagesTakeTheNodesInTurn(int nodes) {
        for (long start : new long[] {0, 6 * MIB, 1L << 46}) {
            long before = -1;
            for (long piece = 0; piece < 600; piece++) {
                long page = piece * 512 + BulkIo.firstPage(start + piece * 2 * MIB) / 4096;
                assertThat(page / 512).isEqualTo(piece);
                assertThat(page % nodes).isEqualTo(before < 0 ? page % nodes : (before + 1) % nodes);
                before = page % nodes;
            }
        }
    }

    @Test
    void theKernelPlacesTheMappingsOfThisThreadAndOfItsChildrenByIt() {
        String[] seen = onThreadOf(first, () -> {
            String ofThread = policyOf(Path.of("/proc/thread-self/numa_maps"));
            String ofItsThread = CompletableFuture.supplyAsync(
                            () -> io.memoryPolicy().toString(), task -> new Thread(task).start())
                    .join();
            return new String[] {io.memoryPolicy().toString(), ofThread, ofItsThread, policyOfChildProcess()};
        });

        assertThat(seen).containsOnly("interleave:0");
        assertThat(io.memoryPolicy()).isEqualTo(MemoryPolicy.DEFAULT);
    }

    @Test
    void theMemoryOfAFileIsPlacedByThePolicyOfTheThreadThatReservesIt() {
        InterProcess calls = InterProcess.system();

        String mapped = onThreadOf(first, () -> {
            int descriptor = calls.makeMemory("larder-nodes", 4 * MIB);
            long address = io.mapWritable(descriptor, 0, 4 * MIB);
            try {
                io.populate(address, 4 * MIB);
                return lineOf(address);
            } finally {
                Posix.system().unmap(address, 4 * MIB);
                Posix.system().close(descriptor);
            }
        });

        assertThat(mapped).contains(" interleave:0 ").contains("larder-nodes").contains(" N0=");
    }

    @Test
    void aWriterFollowsThePolicyForAsLongAsItWritesUnlessItHasOneOfItsOwn() {
        MemoryPolicy interleaved = MemoryPolicy.interleave(first);
        Supplier<String> write =
                () -> MemoryNodes.placed(interleaved, () -> io.memoryPolicy().toString());

        String[] seen = onThreadOf(
                new BitSet(), () -> new String[] {write.get(), io.memoryPolicy().toString()});
        String own = onThread(() -> {
            assertThat(io.setMemoryPolicy(MemoryPolicy.parse("bind:0"))).isTrue();
            return write.get() + " " + io.memoryPolicy();
        });

        assertThat(seen).containsExactly("interleave:0", "default");
        assertThat(own).isEqualTo("bind:0 bind:0");
    }

    @Test
    void aNodeThatDoesNotExistIsRefused() {
        boolean isAccepted = onThread(() -> io.setMemoryPolicy(MemoryPolicy.interleave(MemoryNodes.parse("1000"))));

        assertThat(isAccepted).isFalse();
    }

    /** Runs on a thread of its own that has the policy, unless there are no nodes. */
    private <T> T onThreadOf(BitSet nodes, Supplier<T> action) {
        assumeThat(onThread(() -> io.setMemoryPolicy(MemoryPolicy.interleave(first))))
                .as("containers may forbid it")
                .isTrue();
        return onThread(() -> {
            if (!nodes.isEmpty()) {
                io.setMemoryPolicy(MemoryPolicy.interleave(nodes));
            }
            return action.get();
        });
    }

    private static <T> T onThread(Supplier<T> action) {
        return CompletableFuture.supplyAsync(action, task -> new Thread(task).start())
                .join();
    }

    private static String policyOf(Path maps) {
        try (Stream<String> lines = Files.lines(maps)) {
            return lines.findFirst().orElseThrow().split(" ", -1)[1];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String lineOf(long address) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/thread-self/numa_maps"))) {
            String start = Long.toHexString(address) + " ";
            return lines.filter(line -> line.startsWith(start)).findFirst().orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String policyOfChildProcess() {
        try {
            Process child = new ProcessBuilder("head", "-n", "1", "/proc/self/numa_maps").start();
            return new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split(" ", -1)[1];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
