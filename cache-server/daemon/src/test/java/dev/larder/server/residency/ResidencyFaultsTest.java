package dev.larder.server.residency;

import static dev.larder.server.residency.PublishedStore.VERSION_BYTES;
import static dev.larder.server.residency.PublishedStore.sourced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.testing.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Versions that are asked for, pinned, removed or damaged just while something else is done with them. */
@Timeout(300)
class ResidencyFaultsTest {
    private static final Provenance COMPUTED = Provenance.computed(0);

    private final PublishedStore made = PublishedStore.withRoomFor(2);
    private final Residency residency = made.residency();
    private final List<PublishedVersion> vanished = new ArrayList<>();

    @AfterEach
    void close() {
        made.close();
    }

    @Test
    void aLoadThatNeedsWhatOthersKeepAskingForHasItsRoomInTheEnd() {
        PublishedVersion asked = made.publish("a", sourced(0));
        residency.protect(asked); // the clock stands still: it is as if it were asked for again and again

        residency.reserve(2 * VERSION_BYTES, () -> true);

        assertThat(residency.find("a")).isEmpty();
        assertThat(residency.registration("a")).isPresent();
    }

    @Test
    void aVersionThatTwoTryToRemoveIsStillLeavingWhenOneOfThemHasEnded() {
        PublishedVersion version = made.publish("a", sourced(0));

        residency.setBeingRemoved(version, true);
        residency.setBeingRemoved(version, true);
        residency.setBeingRemoved(version, false);
        assertThat(residency.isStaying(version)).isFalse();
        assertThat(residency.giveUp(version)).isFalse();

        residency.setBeingRemoved(version, false);
        assertThat(residency.isStaying(version)).isTrue();
    }

    @Test
    void aLoadThatNobodyWantsAnyMoreEndsWhileItWaitsForRoom() {
        residency.protect(made.publish("a", sourced(0)));

        assertThatThrownBy(() -> residency.reserve(2 * VERSION_BYTES, () -> false))
                .isInstanceOf(CancellationException.class);

        assertThat(residency.find("a")).isPresent();
    }

    @Test
    void othersAreDecidedOnWhileALoadWaitsForRoom() {
        residency.protect(made.publish("a", sourced(0)));
        List<Thread> others = new ArrayList<>();

        residency.reserve(2 * VERSION_BYTES, () -> {
            if (others.isEmpty()) {
                Thread other = new Thread(() -> residency.reserve(1, () -> true).close());
                others.add(other);
                other.start();
                join(other);
            }
            return true;
        });

        assertThat(others).hasSize(1);
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whoLooksWithoutADaemonAlwaysFindsADatasetThatIsBeingEvicted() throws Exception {
        StoreLayout layout = made.layout();
        for (int turn = 0; turn < 200; turn++) {
            String dataset = "d" + turn;
            PublishedVersion version = made.publish(dataset, sourced(0));
            CountDownLatch hasLooked = new CountDownLatch(1);
            AtomicBoolean isGone = new AtomicBoolean();
            CompletableFuture<Boolean> missed = CompletableFuture.supplyAsync(() -> {
                boolean isMissed = false;
                while (!isGone.get()) {
                    isMissed |= !isThere(layout.current(dataset)) && !isThere(layout.registered(dataset));
                    hasLooked.countDown();
                }
                return isMissed;
            });
            hasLooked.await();
            assertThat(residency.tryEvict(version, false)).isTrue();
            isGone.set(true);
            assertThat(missed.get()).as("turn %d", turn).isFalse();
        }
    }

    private static boolean isThere(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    }

    @Test
    void whatIsPinnedWhileItIsAboutToLeaveStays() {
        PublishedVersion version = made.publish("a", sourced(0));
        made.store().pin(version, true); // after somebody has looked that it was not

        assertThat(residency.tryEvict(version, false)).isFalse();

        assertThat(residency.find("a")).isPresent();
        assertThatThrownBy(() -> residency.evict("a", false)).hasMessageContaining("dataset is pinned");
    }

    @Test
    void aPinThatIsSetWhileTheNextVersionIsPublishedGoesOnWithIt() {
        PublishedVersion first = made.publish("a", sourced(0));
        made.whenAskedForTime(() -> made.store().pin(first, true)); // once it was found not to be pinned

        PublishedVersion second = made.publish("a", sourced(0));
        made.whenAskedForTime(() -> {});

        assertThat(made.store().isPinned(second)).isTrue();
        assertThat(made.store().isPinned(first)).isFalse();
    }

    @Test
    void aPinThatIsTakenBackWhileTheNextVersionIsPublishedDoesNotGoOnWithIt() {
        made.publish("a", sourced(0));
        residency.pin("a", true);
        made.whenAskedForTime(() -> residency.pin("a", false)); // once it was found to be pinned

        PublishedVersion second = made.publish("a", sourced(0));
        made.whenAskedForTime(() -> {});

        assertThat(made.store().isPinned(second)).isFalse();
    }

    @Test
    void whoEvictsWhatHasLeftIsToldHowItComesBack() {
        made.publish("a", sourced(0));
        residency.evict("a", false);

        assertThatThrownBy(() -> residency.evict("a", false))
                .hasMessageContainingAll("dataset is not in memory now: dataset=a", "larder evict --forget a");
    }

    @Test
    void whatCanNeverFitIsRefusedWithWhatHelps() {
        assertThatThrownBy(() -> residency.reserve(3 * VERSION_BYTES, () -> true))
                .hasMessageContaining("; it is larger than the capacity: raise --capacity, ")
                .hasMessageNotContaining("unpin");
    }

    @Test
    void whatHasLeftCannotBePinned() {
        PublishedVersion version = made.publish("a", sourced(0));
        residency.evict("a", false);

        assertThatThrownBy(() -> made.store().pin(version, true))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("removed before it could be pinned: dataset=a version=1");
    }

    @Test
    void whatWasPublishedLongAgoLivesItsTimeAfterAnUncleanStop() {
        made.publish("a", sourced(5_000));
        made.setNow(2_000_000);
        Residency again = made.adoptAnew();

        again.sample(false, vanished::add);
        assertThat(again.find("a")).isPresent();

        made.setNow(2_005_001);
        again.sample(false, vanished::add);
        assertThat(again.find("a")).isEmpty();
    }

    @Test
    void theTimeOfLastUseIsKeptWhereSourcesAreNotedAnew() {
        PublishedVersion version = made.publish("a", sourced(0));
        made.setNow(2_000_000);
        residency.protect(version);

        residency.recordSources(version, sourced(7));

        assertThat(residency.lastUses()).containsExactly(new CatalogEntry("a", 1, 2_000_000));
    }

    @Test
    void timesOfLastUseAreTakenOverFromTheLastDaemon() {
        PublishedVersion known = made.publish("known", sourced(0));
        PublishedVersion ahead = made.publish("ahead", sourced(0));
        PublishedVersion unknown = made.publish("unknown", sourced(0));
        made.setNow(2_000_000);

        Residency again = made.adoptAnew(
                List.of(new CatalogEntry("known", 1, 1_500_000), new CatalogEntry("ahead", 1, 9_000_000)));

        assertThat(again.lastUseMs(known)).isEqualTo(1_500_000);
        assertThat(again.lastUseMs(ahead)).as("the clock was ahead").isEqualTo(2_000_000);
        assertThat(again.lastUseMs(unknown)).isEqualTo(2_000_000);
    }

    @Test
    void theNumberOfAVersionWhoseFilesAreGoneIsNotGivenAgain() {
        Residency again = made.adoptAnew(List.of(new CatalogEntry("a", 7, 1_500_000)));

        assertThat(made.publish(again, "a", sourced(0)).version()).isEqualTo(8);
    }

    @Test
    void aLinkThatIsLostIsMadeAnew() throws IOException {
        PublishedVersion version = made.publish("a", COMPUTED);
        for (boolean everyFile : new boolean[] {true, false}) {
            Files.delete(made.layout().current("a"));

            residency.sample(everyFile, vanished::add);

            assertThat(Files.readSymbolicLink(made.layout().current("a"))).hasToString("1");
        }
        assertThat(residency.find("a")).contains(version);
        assertThat(vanished).isEmpty();
    }

    @Test
    void aManifestThatIsLostIsWrittenAnew() throws IOException {
        PublishedVersion version = made.publish("a", COMPUTED);
        Path manifest = version.folder().resolve(StoreLayout.MANIFEST);
        String before = Files.readString(manifest);
        Files.delete(manifest);

        assertThat(residency.repair(version, vanished::add)).isFalse();

        assertThat(manifest).hasContent(before);
        assertThat(residency.find("a")).contains(version);
        assertThat(vanished).isEmpty();
    }

    @Test
    void ofComputedDataThatIsDamagedTheRestIsSetAside() throws IOException {
        PublishedVersion version = made.publish("a", COMPUTED);
        Files.delete(version.folder().resolve(StoreLayout.INDEX));

        assertThat(residency.repair(version, vanished::add)).isTrue();

        assertThat(vanished).containsExactly(version);
        assertThat(residency.all()).isEmpty();
        assertThat(made.layout().dataset("a").resolve("1.damaged/a.npy")).hasSize(VERSION_BYTES);
        assertThat(Files.exists(made.layout().current("a"), LinkOption.NOFOLLOW_LINKS))
                .isFalse();
        assertThat(made.publish("a", COMPUTED).version()).isEqualTo(2);
    }

    @Test
    void whatHasASourceAndIsDamagedIsRemovedAndComesBackUnderItsNumber() throws IOException {
        PublishedVersion version = made.publish("a", sourced(0));
        Files.delete(version.folder().resolve("a.npy"));

        assertThat(residency.repair(version, vanished::add)).isTrue();

        assertThat(vanished).containsExactly(version);
        assertThat(residency.all()).isEmpty();
        assertThat(residency.registration("a")).isPresent();
        assertThat(made.publish("a", sourced(0)).version()).isEqualTo(1);
    }

    @Test
    void whatSomebodyHasRemovedMakesRoomOnceAndStaysKnown() throws IOException {
        made.publish("a", sourced(0));
        Folders.remove(made.layout().dataset("a"));

        residency.reserve(2 * VERSION_BYTES, () -> true);

        assertThat(residency.all()).isEmpty();
        assertThat(residency.registration("a")).isPresent();
        assertThat(made.layout().registered("a")).exists();
    }

    @Test
    void aLateEvictionDoesNotForgetWhatCameBackUnderTheSameNumber() {
        PublishedVersion before = made.publish("a", sourced(0));
        residency.evict("a", false);
        made.setNow(2_000_000);
        PublishedVersion after = made.publish("a", sourced(0));

        assertThat(after.version()).isEqualTo(1);
        assertThat(after.isSameAs(before)).isFalse();
    }

    @Test
    void aLinkThatNamesTheNewestIsLeftAloneAtTheNextStart() throws IOException {
        made.publish("a", COMPUTED);
        Path current = made.layout().current("a");
        Object before = Files.getAttribute(current, "unix:ino", LinkOption.NOFOLLOW_LINKS);

        made.adoptAnew();

        assertThat(Files.getAttribute(current, "unix:ino", LinkOption.NOFOLLOW_LINKS))
                .isEqualTo(before);
    }

    @Test
    void aNoteOfWhatCanBeLoadedIsLeftAloneAtTheNextStart() throws IOException {
        made.publish("a", sourced(0));
        residency.evict("a", false);
        Path note = made.layout().registered("a");
        Object before = Files.getAttribute(note, "unix:ino");

        Residency again = made.adoptAnew();

        assertThat(again.registration("a")).isPresent();
        assertThat(Files.getAttribute(note, "unix:ino")).isEqualTo(before);
    }
}
