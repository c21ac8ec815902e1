package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.larder.distributed.internal.GroupDescriptor;
import dev.larder.distributed.internal.GroupFault;
import dev.larder.distributed.internal.GroupRegion;
import dev.larder.distributed.internal.GroupSpec;
import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.Regions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ends of groups, and of waits, at moments when something else goes on. */
@Tag("races")
class GroupEndsTest {
    private static final GroupSpec.Waits WAITS =
            new GroupSpec.Waits(100, Duration.ofSeconds(10), Duration.ofSeconds(10));

    private final OwnFolder regions = new OwnFolder();

    @AfterEach
    void removeRegions() {
        regions.close();
    }

    @Test
    void whoClosesWhileInterruptedWaitsForCallsThatGoOn() {
        CountDownLatch closed = new CountDownLatch(1);
        try (Gang gang = Gang.of(regions.path(), "closed", 2)) {
            gang.run(group -> {
                if (group.rank() == 1) {
                    closed.await();
                    return "waited";
                }
                Work work = group.allReduceAsync(Span.of(new float[1_000_000]), ReduceOp.SUM);
                Thread.currentThread().interrupt();
                group.close();
                closed.countDown();
                assertThat(Thread.interrupted()).isTrue();
                assertThat(work.isDone()).isTrue();
                assertThat(work.exception()).containsInstanceOf(IllegalStateException.class);
                return "closed";
            });
        }
    }

    @Test
    void anInterruptOfACallThatStandsInLineBreaksTheGroupAndReturnsAfterAllThatUseItsSpans() {
        CountDownLatch failed = new CountDownLatch(1);
        try (Gang gang = Gang.of(regions.path(), "in-line", 2)) {
            List<Optional<RuntimeException>> failures = gang.failures(group -> {
                group.barrier();
                if (group.rank() == 1) {
                    failed.await();
                    group.barrier();
                    return "never";
                }
                Work first = group.allReduceAsync(Span.of(new float[10]), ReduceOp.SUM);
                Thread.currentThread().interrupt();
                LarderException thrown =
                        catchThrowableOfType(LarderException.class, () -> group.broadcast(Span.of(new float[3]), 1));
                assertThat(Thread.interrupted()).isTrue();
                assertThat(first.isDone()).isTrue();
                failed.countDown();
                throw thrown;
            });

            assertThat(failures)
                    .allMatch(failure -> failure.orElseThrow() instanceof LarderException e
                            && e.code() == ErrorCode.INTERRUPTED
                            && String.valueOf(e.getMessage()).contains("while a call was queued: rank=0 pid="));
        }
    }

    @Test
    void aRankThatPublishesAfterTheOthersHaveGivenUpHearsThat() {
        GroupSpec spec = new GroupSpec("late", 0, 1, 4096, WAITS);
        try (Regions own = regions.regions();
                Region region = GroupRegion.open(own, spec)) {
            GroupFault fault = new GroupFault(region.memory(), 0);
            GroupPeers peers = new GroupPeers(region, spec, fault, null);
            GroupControl control = new GroupControl(region.memory(), spec, peers, fault);
            peers.join();
            control.gather();
            control.beginCall(CallKind.of(CallKind.BARRIER, null, null, CallKind.EVERY_RANK), 0);
            fault.breakBecause(ErrorCode.DEADLINE, "another rank has given up");
            control.publish();

            assertThatThrownBy(control::awaitAll).hasMessage("another rank has given up");
        }
    }

    @Test
    void aRankThatDiedLongAgoIsNotTakenForOneThatIsHere() {
        try (Gang gang = Gang.of(regions.path(), "left-over", 2);
                Regions own = regions.regions();
                Region region = GroupRegion.open(own, new GroupSpec("left-over", 1, 2, 512 * 1024, WAITS))) {
            int line = GroupDescriptor.line(1);
            region.memory().putInt(line + GroupDescriptor.PROGRESS_OFFSET, 5);
            region.memory().putLong(line + GroupDescriptor.PID_OFFSET, 4711);
            region.memory().putIntVolatile(line + GroupDescriptor.STATE_OFFSET, GroupDescriptor.STATE_JOINED);

            assertThatThrownBy(() -> Gang.await(gang.start(0, group -> "never")))
                    .hasMessageContaining("has died: rank=1 pid=4711 key=left-over call=join");
        }
    }

    @Test
    void aGroupThatIsClosedWaitsForNobody() {
        try (Gang gang = Gang.of(regions.path(), "gone", 1)) {
            gang.run(group -> {
                group.close();
                assertThatThrownBy(group::barrier)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("closed");
                assertThatThrownBy(group::barrierAsync)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("closed");
                return "closed";
            });
        }
    }
}
