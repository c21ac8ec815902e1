package dev.larder.server.ingest;

import static dev.larder.server.residency.PublishedStore.VERSION_BYTES;
import static dev.larder.server.residency.PublishedStore.sourced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Request.NewFile;
import dev.larder.server.control.FairQueue;
import dev.larder.server.residency.PublishedStore;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.Publisher;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Builds that begin, are refused or given up. */
@Timeout(300)
class LoadsTest {
    private static final Publisher ADA = Publisher.member(4101, "ada");

    private final PublishedStore made = PublishedStore.withRoomFor(2);

    @AfterEach
    void close() {
        made.close();
    }

    private Loads loads(long quotaBytes) {
        return new Loads(
                made.store(),
                made.residency(),
                new GroupQuota(made.residency(), quotaBytes),
                1,
                new FairQueue("test-load", 4, 16));
    }

    private static Request.Create request(String name, long bytes) {
        return new Request.Create(name, Duration.ofMinutes(1), bytes, true);
    }

    @Test
    void othersAreAnsweredWhileABuildWaitsForItsRoom() {
        made.publish("a", sourced(0));
        Loads loads = loads(0);
        CountDownLatch deciding = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        made.whenAskedForTime(() -> {
            deciding.countDown();
            await(mayGoOn);
        });
        CompletableFuture<Optional<Upload>> building = CompletableFuture.supplyAsync(
                () -> loads.tryStartUpload(request("b", 2 * VERSION_BYTES), Publisher.OWNER, () -> true));
        await(deciding);

        assertThat(loads.find("b")).isPresent();
        assertThat(loads.find("c")).isEmpty();
        assertThat(loads.tryStartUpload(request("b", 0), Publisher.OWNER, () -> true))
                .isEmpty();

        mayGoOn.countDown();
        assertThat(loads.find("b")).contains(building.join().orElseThrow());
        loads.close(10_000);
        assertThat(loads.running()).isEmpty();
    }

    @Test
    void aBuildThatIsRefusedItsRoomLeavesTheNameToOthers() {
        Loads loads = loads(0);

        assertThatThrownBy(() -> loads.tryStartUpload(request("a", 3 * VERSION_BYTES), Publisher.OWNER, () -> true))
                .hasMessageContaining("not enough space");

        assertThat(loads.running()).isEmpty();
        assertThat(made.store().freeBytes(() -> 0)).isEqualTo(2 * VERSION_BYTES);
    }

    @Test
    void whatAMemberMayNotDoAnywayEvictsNothing() {
        made.publish("a", sourced(0));

        assertThatThrownBy(() -> loads(VERSION_BYTES).tryStartUpload(request("b", 2 * VERSION_BYTES), ADA, () -> true))
                .hasMessageContaining("the group's quota is not enough");

        assertThat(made.residency().find("a")).isPresent();
    }

    @Test
    void aShareOfTheQuotaIsGivenBackWhereThereIsNoRoom() {
        made.publish("a", Provenance.computed(0));
        GroupQuota quota = new GroupQuota(made.residency(), 2 * VERSION_BYTES);
        Loads loads = new Loads(made.store(), made.residency(), quota, 1, new FairQueue("test-load", 4, 16));

        assertThatThrownBy(() -> loads.tryStartUpload(request("b", 2 * VERSION_BYTES), ADA, () -> true))
                .hasMessageContaining("not enough space");

        assertThatCode(() -> quota.reserve(2 * VERSION_BYTES)).doesNotThrowAnyException();
    }

    @Test
    void aBuildThatIsBeingPublishedHasNoMoreFilesMadeAndLooksAtNone() throws IOException {
        try (IncomingVersion folder = made.store().newUpload("a", Provenance.computed(0))) {
            MemberFiles files = new MemberFiles(
                    folder,
                    new GroupQuota(made.residency(), VERSION_BYTES),
                    made.residency().reserve(0, () -> true));
            files.create(List.of(new NewFile("x", 10, "")));
            files.seal();
            Files.delete(folder.folder().resolve("x.npy")); // as if it were moved to where it is published from

            assertThatCode(files::requireLengths).doesNotThrowAnyException();
            assertThatThrownBy(() -> files.create(List.of(new NewFile("y", 10, ""))))
                    .hasMessageContaining("it is being published");
            files.close();
        }
    }

    @Test
    void othersLookAtTheFilesOfABuildThatWaitsForRoom() throws Exception {
        made.residency().protect(made.publish("a", sourced(0))); // which keeps its room for a moment
        try (IncomingVersion folder = made.store().newUpload("b", Provenance.computed(0))) {
            CompletableFuture<MemberFiles> files = new CompletableFuture<>();
            List<CompletableFuture<Void>> looks = new ArrayList<>();
            Reservation reservation = made.residency().reserve(0, () -> {
                CompletableFuture<Void> look =
                        CompletableFuture.runAsync(() -> files.join().requireLengths());
                assertThat(look).succeedsWithin(Duration.ofMinutes(1));
                return looks.add(look);
            });
            files.complete(new MemberFiles(folder, new GroupQuota(made.residency(), 4 * VERSION_BYTES), reservation));

            files.join().create(List.of(new NewFile("x", VERSION_BYTES + 1, "")));

            assertThat(looks).isNotEmpty();
            files.join().close();
            reservation.close();
        }
    }

    @Test
    void filesBeyondAnySizeAreRefusedAndCountForNothing() {
        try (IncomingVersion folder = made.store().newUpload("a", Provenance.computed(0))) {
            GroupQuota quota = new GroupQuota(made.residency(), VERSION_BYTES);
            MemberFiles files = new MemberFiles(folder, quota, made.residency().reserve(0, () -> true));

            assertThatThrownBy(() -> files.create(List.of(new NewFile("x", Long.MAX_VALUE, ""))))
                    .hasMessageContaining("the sum of the files exceeds any store");
            assertThatThrownBy(() -> files.create(List.of(new NewFile("x", VERSION_BYTES, ""))))
                    .hasMessageContaining("the group's quota is not enough");
            files.close();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
