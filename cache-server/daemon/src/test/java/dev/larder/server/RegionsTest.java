package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.server.store.CleanUp;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a daemon does about memory that others write together. */
class RegionsTest {
    private static final Posix POSIX = Posix.system();
    private static final InterProcess CALLS = InterProcess.system();
    private static final long BYTES = 100_000;
    private static final long STORED_BYTES = 26 * 4096;

    private final ServedStore served = ServedStore.create();

    @AfterEach
    void close() {
        served.close();
    }

    private RegionRow create(String name) {
        return served.control().createRegion(name, "test", BYTES);
    }

    /** Says, as a client does, that a process has a region; the descriptor's end says that it has not. */
    private int attach(RegionRow region) {
        int locks = POSIX.openForWriting(served.layout().regions().resolve(RegionDescriptor.LOCKS_FILE));
        assertThat(CALLS.tryLockRange(locks, region.id() + RegionDescriptor.ATTACHED_LOCK, 1, false))
                .isTrue();
        return locks;
    }

    @Test
    void aRegionIsMadeOnceAndDescribed() throws IOException {
        served.start();

        RegionRow made = create("weights");
        RegionRow again = create("weights");

        assertThat(again).isEqualTo(made);
        assertThat(served.control().regions("")).containsExactly(made);
        assertThat(served.control().regions("absent")).isEmpty();
        assertThat(made.creatorPid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(Files.size(made.file())).isEqualTo(RegionDescriptor.DATA_OFFSET + BYTES);
        assertThat(served.control().status().usedBytes()).isEqualTo(STORED_BYTES);
    }

    @Test
    void theNextDaemonKnowsTheRegionsOfOneThatWasKilled() throws IOException {
        ChildJvm killed = served.startProcess();
        RegionRow made = create("weights");
        int attached = attach(made);
        killed.kill();
        Files.writeString(served.layout().regions().resolve("stray"), "what is this?");
        Files.createFile(served.root().resolve("regions.sock")); // of an earlier build

        served.start();

        assertThat(served.control().regions("").get(0).id()).isEqualTo(made.id());
        assertThat(served.control().regions("").get(0).kind()).isEqualTo("test");
        assertThat(ServedStore.entries(served.layout().regions())).hasSize(2);
        assertThat(served.root().resolve("regions.sock")).doesNotExist();
        POSIX.close(attached);
    }

    @Test
    void regionsGoWithTheStoreAndCountAsHeldWhileSomebodyHasThem() {
        Daemon daemon = served.start();
        int attached = attach(create("weights"));
        create("unused");

        CleanUp cleanUp = daemon.stop(false);

        assertThat(cleanUp.heldUntilExitBytes()).isEqualTo(STORED_BYTES);
        assertThat(served.root()).doesNotExist();
        POSIX.close(attached);
    }

    @Test
    void aRegionThatDoesNotFitIsRefusedWithNothingLeft() {
        served.start(OptionalLong.of(1 << 20));

        assertThatThrownBy(() -> served.control().createRegion("large", "test", 1 << 20))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));

        assertThat(served.control().regions("")).isEmpty();
        assertThat(create("small").bytes()).isEqualTo(BYTES);
    }

    @Test
    void whoeverAsksForWhatIsBeingMadeWaitsForThatOne() {
        served.start(OptionalLong.of(600 << 20));
        CompletableFuture<?>[] askers = IntStream.range(0, 6)
                .mapToObj(i ->
                        CompletableFuture.supplyAsync(() -> served.control().createRegion("large", "test", 400 << 20)))
                .toArray(CompletableFuture<?>[]::new);

        assertThat(CompletableFuture.allOf(askers)).succeedsWithin(Duration.ofSeconds(60));

        assertThat(Arrays.stream(askers).map(CompletableFuture::join).distinct())
                .hasSize(1);
    }

    @Test
    void aRegionWithoutANameCountsWhileSomebodyHasIt() {
        served.start();
        RegionRow made = create("weights");
        int attached = attach(made);

        served.control().removeRegion("weights", 0);

        assertThat(served.control().status().usedBytes()).isEqualTo(STORED_BYTES);
        POSIX.close(attached);
        await().until(() -> served.control().status().usedBytes() == 0);
    }

    @Test
    void aRemovedNameIsFreeAtOnce() {
        served.start();
        RegionRow made = create("weights");

        served.control().removeRegion("weights", made.id() + RegionDescriptor.LOCKS);
        assertThat(served.control().regions("weights")).containsExactly(made);
        served.control().removeRegion("weights", 0);

        assertThat(create("weights").id()).isNotEqualTo(made.id());
        assertThatThrownBy(() -> served.control().removeRegion("absent", 0)).hasMessageContaining("no such region");
    }

    @Test
    void regionsThatSomebodyRemovedFromUnderTheDaemonAreForgotten() throws IOException {
        served.start();
        RegionRow made = create("weights");
        Path file = made.file();

        Files.delete(file);

        await().until(() -> served.control().regions("").isEmpty());
        Files.delete(served.layout().regions().resolve(RegionDescriptor.LOCKS_FILE));
        await().until(() -> Files.exists(served.layout().regions().resolve(RegionDescriptor.LOCKS_FILE)));
        assertThat(create("weights").id()).isNotEqualTo(made.id());
    }
}
