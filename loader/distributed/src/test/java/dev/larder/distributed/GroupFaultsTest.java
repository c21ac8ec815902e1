package dev.larder.distributed;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("races")
class GroupFaultsTest {
    private static final Duration SHORT = Duration.ofMillis(300);

    @TempDir
    Path folder;

    private final OwnFolder regions = new OwnFolder();

    @AfterEach
    void removeRegions() {
        regions.close();
    }

    static Stream<Arguments> differentCalls() {
        Span four = Span.of(new float[4]);
        Span five = Span.of(new float[5]);
        Span ints = Span.of(new int[4]);
        return Stream.of(
                different(
                        "barrier",
                        ProcessGroup::barrier,
                        "allReduce/FLOAT/SUM/16-bytes",
                        g -> g.allReduce(four, ReduceOp.SUM)),
                different(
                        "/16-bytes",
                        g -> g.allReduce(four, ReduceOp.SUM),
                        "/20-bytes",
                        g -> g.allReduce(five, ReduceOp.SUM)),
                different(
                        "FLOAT/SUM",
                        g -> g.allReduce(four, ReduceOp.SUM),
                        "INT/SUM",
                        g -> g.allReduce(ints, ReduceOp.SUM)),
                different("/SUM/", g -> g.allReduce(four, ReduceOp.SUM), "/MAX/", g -> g.allReduce(four, ReduceOp.MAX)),
                different("root-0", g -> g.broadcast(four, 0), "root-1", g -> g.broadcast(four, 1)),
                different(
                        "reduce/FLOAT/SUM/root-1",
                        g -> g.reduce(four, ReduceOp.SUM, 1),
                        "allReduce",
                        g -> g.allReduce(four, ReduceOp.SUM)),
                different("subgroup", g -> g.subgroup(0, 1), "subgroup", g -> g.subgroup(0)));
    }

    private static Arguments different(String one, Gang.Call oneCall, String other, Gang.Call otherCall) {
        return Arguments.of(one, oneCall, other, otherCall);
    }

    @ParameterizedTest(name = "{0} and {2}")
    @MethodSource("differentCalls")
    void differentCallsAreToldToBothSides(String one, Gang.Call oneCall, String other, Gang.Call otherCall) {
        try (Gang gang = Gang.of(regions.path(), "different", 3)) {
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                group.barrier();
                (group.rank() == 1 ? otherCall : oneCall).on(group);
                return "never";
            });

            String message = requireSameFailure(failures, ErrorCode.BAD_INPUT);
            assertThat(message).contains("different calls", "callNumber=2", one, other, "ank=1 ");
        }
    }

    private static String requireSameFailure(List<Optional<RuntimeException>> failures, ErrorCode code) {
        String first = failures.get(0).orElseThrow().getMessage();
        for (Optional<RuntimeException> failure : failures) {
            assertThat(failure).containsInstanceOf(LarderException.class);
            assertThat(failure.orElseThrow()).hasMessage(first);
            assertThat(((LarderException) failure.orElseThrow()).code()).isEqualTo(code);
        }
        return String.valueOf(first);
    }

    @Test
    void aBrokenGroupFailsAtOnceWithTheFirstCause() {
        try (Gang gang = Gang.of(regions.path(), "broken", 2)) {
            gang.run(group -> {
                String first = messageOf(() -> group.broadcast(Span.of(new float[4]), group.rank()));
                long startNs = System.nanoTime();
                assertThat(messageOf(group::barrier)).isEqualTo(first);
                assertThat(messageOf(() -> group.barrierAsync().await(SHORT))).isEqualTo(first);
                assertThat(messageOf(() -> group.subgroup(0, 1))).isEqualTo(first);
                assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(Duration.ofSeconds(15));
                return first;
            });
        }
    }

    private static String messageOf(ThrowingCallable call) {
        return String.valueOf(assertThatExceptionOfType(LarderException.class)
                .isThrownBy(call)
                .actual()
                .getMessage());
    }

    @Test
    void aRankThatHasClosedIsToldFromOneThatDied() {
        try (Gang gang = Gang.of(regions.path(), "closed", 3)) {
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                group.barrier();
                if (group.rank() == 2) {
                    group.close();
                    assertThatThrownBy(group::barrier).isInstanceOf(IllegalStateException.class);
                    return "gone";
                }
                group.allReduce(Span.of(new float[100_000]), ReduceOp.SUM);
                return "never";
            });

            assertThat(failures.get(2)).isEmpty();
            assertThat(requireSameFailure(failures.subList(0, 2), ErrorCode.REFUSED))
                    .contains(
                            "has closed",
                            "rank=2 pid=" + ProcessHandle.current().pid(),
                            "allReduce");
        }
    }

    @Test
    void whoHasAllItNeedsDoesNotMindThatOthersClose() {
        try (Gang gang = Gang.of(regions.path(), "last", 4)) {
            for (int round = 0; round < 20; round++) {
                int number = round;
                try (Gang next = Gang.of(regions.path(), "last-" + number, 4)) {
                    next.run(group -> {
                        group.barrier();
                        return "closes at once";
                    });
                }
            }
            assertThat(gang.run(ProcessGroup::rank)).containsExactly(0, 1, 2, 3);
        }
    }

    @Test
    void theEndOfAWaitNamesWhoIsMissingAndInWhichCall() {
        CountDownLatch joined = new CountDownLatch(2);
        CountDownLatch failed = new CountDownLatch(1);
        try (Gang gang = Gang.of(regions.path(), "late", 2, groups -> groups.timeout(SHORT))) {
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                joined.countDown();
                joined.await();
                if (group.rank() == 1) {
                    failed.await();
                    group.barrier();
                    return "never";
                }
                failAndTell(() -> group.broadcast(Span.of(new double[3]), 1), failed);
                return "never";
            });

            assertThat(requireSameFailure(failures, ErrorCode.DEADLINE))
                    .contains(
                            "call=broadcast/DOUBLE/root-1/24-bytes",
                            "missing=[1 (pid ",
                            "present=[0 (pid ",
                            "timeoutMs=300");
        }
    }

    private static void failAndTell(Runnable call, CountDownLatch failed) {
        try {
            call.run();
        } finally {
            failed.countDown();
        }
    }

    @Test
    void joiningNamesTheRanksThatAreMissing() {
        try (Gang gang = Gang.of(regions.path(), "absent", 4, groups -> groups.joinTimeout(SHORT))) {
            Future<?> first = gang.start(0, group -> "never");
            Future<?> third = gang.start(2, group -> "never");

            for (Future<?> joining : List.of(first, third)) {
                assertThatThrownBy(() -> Gang.await(joining))
                        .hasMessageContaining("missing=[1, 3] present=[0 (pid ")
                        .hasMessageContaining("call=join");
            }
        }
    }

    @Test
    void anInterruptEndsAWaitAndBreaksTheGroup() {
        CompletableFuture<Thread> waiting = new CompletableFuture<>();
        CountDownLatch failed = new CountDownLatch(1);
        try (Gang gang = Gang.of(regions.path(), "interrupted", 2)) {
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                if (group.rank() == 0) {
                    waiting.complete(Thread.currentThread());
                    failAndTell(group::barrier, failed);
                    return "never";
                }
                waiting.get().interrupt();
                failed.await();
                group.allReduce(Span.of(new float[1]), ReduceOp.SUM);
                return "never";
            });

            assertThat(requireSameFailure(failures, ErrorCode.INTERRUPTED))
                    .contains("was interrupted", "rank=0 pid=", "call=barrier");
        }
    }

    @Test
    void aRankThatFailsInTheMiddleOfACallBreaksTheGroup() throws IOException {
        Path file = folder.resolve("gone");
        try (FileChannel channel = FileChannel.open(file, CREATE, READ, WRITE);
                Gang gang = Gang.of(regions.path(), "middle", 2)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20);
            channel.truncate(0);
            Span gone = Span.of(ElementType.FLOAT, new UnsafeBuffer(mapped));
            CountDownLatch joined = new CountDownLatch(2);
            List<String> failures = gang.run(group -> {
                joined.countDown();
                joined.await(); // a rank that has not returned from joining fails there
                Span data = group.rank() == 0 ? Span.of(new float[1 << 18]) : gone;
                Throwable thrown = catchThrowable(() -> group.allReduce(data, ReduceOp.SUM));
                return thrown + " " + messageOf(group::barrier);
            });

            assertThat(failures.get(1)).startsWith(InternalError.class.getName());
            assertThat(failures)
                    .allMatch(text -> text.contains("a rank failed in a call of the process group: rank=1 pid="));
        }
    }

    @Test
    void closingFromAnotherThreadEndsACall() {
        try (Gang gang = Gang.of(regions.path(), "stopped", 2)) {
            CountDownLatch done = new CountDownLatch(1);
            gang.run(group -> {
                if (group.rank() == 0) {
                    Work work = group.allReduceAsync(Span.of(new float[10]), ReduceOp.SUM);
                    Work next = group.barrierAsync();
                    group.close();
                    assertThat(List.of(work, next)).allMatch(Work::isDone);
                    assertThat(work.exception()).containsInstanceOf(IllegalStateException.class);
                    done.countDown();
                    return "closed";
                }
                done.await();
                return "waited";
            });
        }
    }

    @Test
    void aPlaceIsTakenOnceAndNeverAgain() {
        try (Gang gang = Gang.of(regions.path(), "taken", 2);
                Regions late = regions.regions()) {
            gang.run(group -> {
                group.barrier();
                if (group.rank() == 0) {
                    assertThat(messageOf(() -> ProcessGroups.of(late, "taken").join(1, 2)))
                            .contains("rank=1", "pid=" + ProcessHandle.current().pid(), "alive=true");
                }
                group.barrier();
                return "done";
            });

            assertThat(messageOf(() -> ProcessGroups.of(late, "taken").join(1, 2)))
                    .contains("alive=false");
        }
    }

    @Test
    void ranksThatWantDifferentGroupsOfOneKeyAllHearIt() {
        try (Gang two = Gang.of(regions.path(), "sizes", 2);
                Gang three = Gang.of(regions.path(), "sizes", 3)) {
            Future<?> first = two.start(0, group -> "never");
            Future<?> other = three.start(1, group -> "never");

            for (Future<?> joining : List.of(first, other)) {
                assertThatThrownBy(() -> Gang.await(joining))
                        .isInstanceOf(LarderException.class)
                        .hasMessageContaining("different process groups")
                        .hasMessageContaining("orldSize=2")
                        .hasMessageContaining("orldSize=3");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"3, 524288", "4, 262144", "2, 262144", "4000, 524288"})
    void whoWantsAnotherGroupOfTheKeyOfARunningOneIsRefusedAndHarmsNobody(int worldSize, int chunkByteSize) {
        try (Gang gang = Gang.of(regions.path(), "running", 2);
                Regions late = regions.regions()) {
            gang.run(group -> {
                group.barrier();
                if (group.rank() == 0) {
                    ProcessGroups other = ProcessGroups.of(late, "running").chunkByteSize(chunkByteSize);
                    assertThat(messageOf(() -> other.join(1, worldSize)))
                            .contains("a group with this key is running", "otherWorldSize=2");
                }
                group.barrier();
                return "done";
            });
        }
    }

    @Test
    void keysOfSubgroupsAreRefused() {
        try (Regions late = regions.regions()) {
            assertThat(messageOf(() -> ProcessGroups.of(late, "run.sub12"))).contains("key=run.sub12");
            assertThat(ProcessGroups.of(late, "run.sub12.of-mine")).isNotNull();
        }
    }

    @Test
    void aNewStartWithAnotherKeyMeetsNothingOfTheOldOne() {
        try (Gang old = Gang.of(regions.path(), "run-1", 2);
                Gang next = Gang.of(regions.path(), "run-2", 2)) {
            old.failures(group -> {
                group.broadcast(Span.of(new float[4]), group.rank());
                return "never";
            });

            assertThat(next.run(group -> {
                        float[] ones = {1};
                        group.allReduce(Span.of(ones), ReduceOp.SUM);
                        return ones[0];
                    }))
                    .containsExactly(2f, 2f);
        }
    }

    @Test
    void mistakesAreRefusedBeforeOthersHearOfThem() {
        try (Gang gang = Gang.of(regions.path(), "mistakes", 2)) {
            gang.run(group -> {
                Span ints = Span.of(new int[3]);
                refuse(() -> group.allReduce(ints, ReduceOp.AVG), "no average of integers");
                refuse(() -> group.broadcast(ints, 2), "root: 2 of 2");
                refuse(() -> group.allGather(ints, ints), "not the same for each of 2 ranks");
                refuse(() -> group.subgroup(0, 0), "listed twice");
                refuse(() -> group.gather(ints, null, group.rank()), "root must pass");
                group.barrier();
                return "done";
            });
        }
    }

    private static void refuse(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }
}
