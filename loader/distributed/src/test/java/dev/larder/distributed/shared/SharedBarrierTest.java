package dev.larder.distributed.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.distributed.region.Regions;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("races")
class SharedBarrierTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final int ROUNDS = 200;

    private final OwnFolder folder = new OwnFolder();
    private final Regions regions = folder.regions();
    private final Regions others = folder.regions();
    private final SharedArray mine = SharedArray.openOrCreate(regions, "a", Dtype.parse("<i8"), 4);
    private final SharedArray theirs = SharedArray.open(others, "a");

    @AfterEach
    void clearUp() {
        mine.close();
        theirs.close();
        others.close();
        regions.close();
        folder.close();
    }

    @Test
    void eachRoundOpensWhenAllHaveComeAndHasOneLastThread() {
        List<CompletableFuture<Long>> threads = new ArrayList<>();
        for (SharedArray array : List.of(mine, mine, theirs)) {
            threads.add(CompletableFuture.supplyAsync(() -> takeRounds(array, 3), task -> new Thread(task).start()));
        }

        long last = threads.stream().mapToLong(CompletableFuture::join).sum();

        assertThat(last).isEqualTo(ROUNDS);
        assertThat(mine.getLong(0)).isEqualTo(3 * ROUNDS);
    }

    /** Adds in one half of a round and looks in the other. Returns how often this thread was the last to come. */
    private static long takeRounds(SharedArray array, int parties) {
        long last = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            array.addLong(0, 1);
            last += array.barrier(parties, PATIENCE) ? 1 : 0;
            assertThat(array.getLongVolatile(0)).isEqualTo((long) parties * round);
            array.barrier(parties, PATIENCE);
        }
        return last;
    }

    @Test
    void aDeadlineTellsHowManyHaveComeAndLeavesTheBarrierUsable() {
        assertThatThrownBy(() -> mine.barrier(2, SHORT))
                .hasMessageStartingWith(
                        "not all have come to a barrier in time: name=a arrived=1 parties=2 timeout=PT0.05S");

        CompletableFuture<Boolean> other = CompletableFuture.supplyAsync(() -> theirs.barrier(2, PATIENCE));
        boolean isLast = mine.barrier(2, PATIENCE);

        assertThat(other.join()).isNotEqualTo(isLast);
    }

    @Test
    void aProcessThatDiesWhileItWaitsDoesNotCount() {
        try (ChildJvm child = ChildJvm.start(SharedChild.class, folder.path().toString(), "a", "barrier")) {
            child.awaitLine("ready");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThatThrownBy(() -> mine.barrier(3, Duration.ZERO))
                            .hasMessageContaining("arrived=2"));
            child.kill();

            assertThatThrownBy(() -> mine.barrier(2, SHORT)).hasMessageContaining("arrived=1 parties=2");
        }
    }

    @Test
    void anotherNumberOfPartiesIsRefusedWhileOthersWait() {
        CompletableFuture<Boolean> other = CompletableFuture.supplyAsync(() -> theirs.barrier(2, PATIENCE));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThatThrownBy(() -> mine.barrier(3, Duration.ZERO))
                        .hasMessageContaining(
                                "the barrier has another number of parties: name=a parties=2 wantedParties=3"));

        assertThat(mine.barrier(2, PATIENCE)).isTrue();
        assertThat(other.join()).isFalse();
        assertThat(mine.barrier(1, SHORT)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, SharedBarrier.PARTIES_LIMIT + 1})
    void aNumberThatNoBarrierCanHaveIsRefused(int parties) {
        assertThatThrownBy(() -> mine.barrier(parties, SHORT)).isInstanceOf(IllegalArgumentException.class);
    }
}
