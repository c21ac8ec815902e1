package dev.larder.server.residency;

import static dev.larder.server.residency.PublishedStore.VERSION_BYTES;
import static dev.larder.server.residency.PublishedStore.sourced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Retention;
import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import dev.larder.server.store.version.ShardRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is known of datasets that are resident, evicted, registered, or not yet verified. */
@Timeout(60)
class ResidencyRulesTest {
    private static final Provenance COMPUTED = Provenance.computed(0);

    private final PublishedStore made = PublishedStore.withRoomFor(5);
    private final Residency residency = made.residency();
    private final List<PublishedVersion> vanished = new ArrayList<>();

    @AfterEach
    void close() {
        made.close();
    }

    private static List<String> datasets(List<Registration> registrations) {
        return registrations.stream().map(Registration::dataset).toList();
    }

    @Test
    void anEvictedDatasetStaysKnownUntilItIsForgotten() {
        made.publish("b", sourced(0));
        made.publish("a", sourced(0));

        assertThat(residency.evict("b", false)).map(PublishedVersion::dataset).contains("b");
        assertThat(residency.evict("a", true)).map(PublishedVersion::dataset).contains("a");
        assertThat(residency.evictions()).isEqualTo(2);
        assertThat(datasets(residency.registrations())).containsExactly("b");
        assertThat(residency.registration("a")).isEmpty();
        assertThat(made.layout().registered("b")).exists();

        assertThat(residency.evict("b", true)).isEmpty();
        assertThat(residency.registrations()).isEmpty();
        assertThat(made.layout().registered("b")).doesNotExist();
        assertThat(residency.evictions()).isEqualTo(2);
        assertThatThrownBy(() -> residency.evict("b", false)).isInstanceOfSatisfying(LarderException.class, e -> {
            assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND);
            assertThat(e).hasMessageContaining("no such dataset");
        });
    }

    @Test
    void computedDataIsForgottenWhenItIsEvicted() {
        made.publish("a", COMPUTED);

        residency.evict("a", false);

        assertThat(residency.registrations()).isEmpty();
        assertThat(residency.all()).isEmpty();
    }

    @Test
    void aLeasedVersionIsNotEvictedAndItsReadersAreNamed() {
        PublishedVersion version = made.publish("a", sourced(0));

        boolean isLeased = made.store()
                .leases()
                .runLeased(
                        version.folder(),
                        () -> assertThatThrownBy(() -> residency.evict("a", false))
                                .hasMessageContaining("dataset is in use: dataset=a version=1 pids=["
                                        + ProcessHandle.current().pid() + "]"));

        assertThat(isLeased).isTrue();
        assertThat(residency.find("a")).contains(version);
        assertThat(residency.isStaying(version)).isTrue();
        assertThat(residency.evictions()).isZero();
    }

    @Test
    void aSourceIsRegisteredOnlyForADatasetThatIsNotResident() {
        residency.register(Registration.ofSource("a", sourced(0)));
        residency.requireRegistrable("a");
        assertThat(datasets(residency.registrations())).containsExactly("a");
        assertThatThrownBy(() -> residency.require("a"))
                .hasMessageContaining("dataset is not in memory now: dataset=a");

        made.publish("a", sourced(0));

        assertThat(residency.registrations()).isEmpty();
        assertThat(residency.registration("a")).isEmpty();
        assertThatThrownBy(() -> residency.requireRegistrable("a"))
                .hasMessageContaining("dataset is resident already: dataset=a");
    }

    @Test
    void unchangedContentsGetTheirNumberBackAndOthersTheNext() {
        String digest = made.publish("a", sourced(0)).digest();
        residency.evict("a", false);
        assertThat(residency.lastKnown("a", digest)).contains(sourced(0));
        assertThat(residency.lastKnown("a", "other")).isEmpty();
        assertThat(residency.lastKnown("b", digest)).isEmpty();

        assertThat(made.publish("a", sourced(0)).version()).isEqualTo(1);
        assertThat(residency.lastKnown("a", digest)).contains(sourced(0));
        assertThat(made.publish("a", sourced(0)).version())
                .as("while it is resident")
                .isEqualTo(2);
        residency.evict("a", true);
        assertThat(made.publish("a", sourced(0)).version())
                .as("after it was forgotten")
                .isEqualTo(3);
    }

    @Test
    void aRequestToKeepADatasetPinsItAndSetsItsTime() {
        made.publish("a", sourced(5));
        made.publish("b", COMPUTED);

        residency.retain("a", new Retention(false, Duration.ZERO));
        assertThat(residency.require("a").provenance().ttlMs()).isEqualTo(5);
        assertThat(residency.pinnedBytes()).isZero();

        residency.retain("a", new Retention(true, Duration.ofMillis(7)));
        residency.retain("none", new Retention(true, Duration.ofMillis(7)));

        assertThat(residency.require("a").provenance().ttlMs()).isEqualTo(7);
        assertThat(residency.pinnedBytes()).isEqualTo(VERSION_BYTES);
        assertThat(residency.usedBytes()).isEqualTo(2 * VERSION_BYTES);
        assertThat(made.adoptAnew().require("a").provenance().ttlMs()).isEqualTo(7);
        residency.pin("a", false);
        assertThat(residency.pinnedBytes()).isZero();
    }

    @Test
    void aPinPassesToTheNextVersion() {
        made.publish("a", sourced(0));
        made.publish("b", sourced(0));
        residency.pin("a", true);

        assertThat(made.store().isPinned(made.publish("a", sourced(0)))).isTrue();
        assertThat(made.store().isPinned(made.publish("b", sourced(0)))).isFalse();
    }

    @Test
    void whatIsRegisteredAndTheNewestVersionAreFoundByTheNextDaemon() throws IOException {
        residency.register(Registration.ofSource("cold", sourced(0)));
        made.publish("a", sourced(0));
        made.publish("a", sourced(0));
        Files.delete(made.layout().current("a")); // as after a kill between both steps of publishing

        Residency again = made.adoptAnew();

        assertThat(datasets(again.registrations())).containsExactly("cold");
        assertThat(again.require("a").version()).isEqualTo(2);
        assertThat(Files.readSymbolicLink(made.layout().current("a"))).hasToString("2");
    }

    @Test
    void theWholeOfAShardIsRecordedOnlyForTheVersionThatWasMeant() {
        ShardRecord shard = new ShardRecord("", 1, 4, Map.of(), Map.of());
        PublishedVersion version = made.publish("a", sourced(0).withShard(shard));
        made.publish("b", sourced(0));

        residency.recordWhole("a", version.digest(), "whole");

        assertThat(residency.require("a").provenance().shard()).isEqualTo(shard.withWhole("whole"));
        assertThat(made.adoptAnew().require("a").provenance().shard()).isEqualTo(shard.withWhole("whole"));
        assertThatThrownBy(() -> residency.recordWhole("a", "other", "whole"))
                .hasMessageContaining("another version was loaded meanwhile: dataset=a version=1 digest="
                        + version.digest() + " expected=other");
        assertThatThrownBy(
                        () -> residency.recordWhole("b", residency.require("b").digest(), "whole"))
                .hasMessageContaining("another version was loaded meanwhile: dataset=b");
    }

    @Test
    void sourcesOfAVersionThatWasReplacedChangeNothingOfTheNext() {
        PublishedVersion first = made.publish("a", sourced(1));
        made.publish("a", sourced(2));

        residency.recordSources(first, sourced(3));

        assertThat(residency.require("a").provenance().ttlMs()).isEqualTo(2);
    }

    @Test
    void anErrorNamesTheArrayOrTheDatasetThatIsMissing() {
        made.publish("a", COMPUTED);

        assertThat(residency.notResident("a/x"))
                .hasMessageContaining("no such array")
                .hasMessageContaining("array=x");
        assertThat(residency.notResident("b/x")).hasMessageContaining("no such dataset: dataset=b");
        assertThat(residency.notResident("b")).hasMessageContaining("no such dataset: dataset=b");
    }

    @Test
    void aVersionLivesItsTimeAfterItsLastUse() {
        PublishedVersion version = made.publish("a", sourced(5_000));
        made.publish("unlimited", sourced(0));
        made.publish("pinned", sourced(5_000));
        residency.pin("pinned", true);
        made.setNow(1_004_000);
        boolean isLeased =
                made.store().leases().runLeased(version.folder(), () -> residency.sample(false, vanished::add));
        assertThat(isLeased).isTrue();
        assertThat(residency.lastUses())
                .contains(new CatalogEntry("a", 1, 1_004_000), new CatalogEntry("pinned", 1, 1_000_000));

        made.setNow(1_009_000);
        residency.sample(false, vanished::add);
        assertThat(residency.find("a")).as("just as old as it may become").isPresent();

        made.setNow(1_009_001);
        residency.sample(false, vanished::add);
        assertThat(residency.current()).extracting(PublishedVersion::dataset).containsExactly("pinned", "unlimited");
        assertThat(vanished).isEmpty();
    }

    @Test
    void aVersionWithoutItsLeaseIsGivenUpAtTheNextLook() throws IOException {
        PublishedVersion version = made.publish("a", sourced(0));
        Files.delete(version.folder().resolve("lease"));

        residency.sample(false, vanished::add);

        assertThat(vanished).containsExactly(version);
        assertThat(residency.find("a")).isEmpty();
        assertThat(residency.registration("a")).isPresent();
    }

    @Test
    void aMissingArrayIsFoundWhenEveryFileIsLookedAt() throws IOException {
        PublishedVersion version = made.publish("a", COMPUTED);
        Files.delete(version.folder().resolve("a.npy"));

        residency.sample(false, vanished::add);
        assertThat(vanished).isEmpty();

        residency.sample(true, vanished::add);
        assertThat(vanished).containsExactly(version);
        assertThat(residency.repair(version, vanished::add))
                .as("it is given up already")
                .isFalse();
    }

    private Residency withUnverified(String dataset, Provenance provenance) {
        made.holdBack(made.publish(dataset, provenance));
        return made.adoptAnew();
    }

    @Test
    void aDatasetCannotBeUsedBeforeItIsVerified() {
        Residency again = withUnverified("a", sourced(0));
        PublishedVersion version = again.unverified().find("a").orElseThrow();

        assertThat(again.unverified().all()).containsExactly(version);
        assertThat(again.unverified().find("b")).isEmpty();
        assertThat(again.usedBytes()).isEqualTo(VERSION_BYTES);
        assertThatThrownBy(() -> again.require("a"))
                .hasMessageContaining("dataset is being verified after a restart: dataset=a");
        assertThatThrownBy(() -> again.requireRegistrable("a")).hasMessageContaining("is being verified");

        again.unverified().reveal(version);

        assertThat(again.require("a").version()).isEqualTo(1);
        assertThat(again.unverified().all()).isEmpty();
        assertThat(again.usedBytes()).isEqualTo(VERSION_BYTES);
    }

    @Test
    void aDamagedVersionThatCanBeLoadedAgainIsRegisteredAndRemoved() {
        Residency again = withUnverified("a", sourced(0));
        PublishedVersion version = again.unverified().find("a").orElseThrow();

        again.unverified().reject(version);
        again.unverified().reject(version);

        assertThat(again.all()).isEmpty();
        assertThat(version.folder()).doesNotExist();
        assertThat(again.registration("a")).hasValueSatisfying(registration -> {
            assertThat(registration.version()).isEqualTo(1);
            assertThat(registration.digest())
                    .as("its number is not given again")
                    .isEmpty();
        });
        assertThat(made.publish(again, "a", sourced(0)).version()).isEqualTo(2);
    }

    @Test
    void aDamagedVersionThatWasComputedIsSetAside() {
        Residency again = withUnverified("a", COMPUTED);

        again.unverified().reject(again.unverified().find("a").orElseThrow());

        assertThat(again.all()).isEmpty();
        assertThat(again.registrations()).isEmpty();
        assertThat(made.layout().dataset("a").resolve("1.damaged/a.npy")).exists();
    }

    @Test
    void aVersionThatIsVerifiedAfterANewerOneWasPublishedIsRemoved() {
        Residency again = withUnverified("a", sourced(0));
        PublishedVersion old = again.unverified().find("a").orElseThrow();
        PublishedVersion newer = made.publish(again, "a", sourced(0));
        assertThat(again.unverified().all()).isEmpty();

        again.unverified().reveal(old);

        assertThat(again.require("a")).isEqualTo(newer);
        assertThat(newer.version()).isEqualTo(2);
        assertThat(again.removeRetired()).isZero();
        assertThat(again.all()).containsExactly(newer);
    }

    @Test
    void retiredVersionsAreCountedUntilTheirReadersEnd() {
        PublishedVersion first = made.publish("a", COMPUTED);
        made.publish("a", COMPUTED);

        boolean isLeased = made.store()
                .leases()
                .runLeased(
                        first.folder(),
                        () -> assertThat(residency.removeRetired()).isEqualTo(1));

        assertThat(isLeased).isTrue();
        assertThat(residency.usedBytes()).isEqualTo(2 * VERSION_BYTES);
        residency.removeReplaced();
        assertThat(residency.usedBytes()).isEqualTo(VERSION_BYTES);
    }
}
