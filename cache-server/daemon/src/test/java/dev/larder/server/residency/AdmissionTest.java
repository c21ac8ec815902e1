package dev.larder.server.residency;

import static dev.larder.server.residency.PublishedStore.VERSION_BYTES;
import static dev.larder.server.residency.PublishedStore.sourced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The versions that make room for a load, in a store with room for three. */
@Timeout(60)
class AdmissionTest {
    private final PublishedStore made = PublishedStore.withRoomFor(3);
    private final Residency residency = made.residency();

    @AfterEach
    void close() {
        made.close();
    }

    private PublishedVersion publishAt(long nowMs, String dataset) {
        made.setNow(nowMs);
        return made.publish(dataset, sourced(0));
    }

    private List<String> resident() {
        return residency.current().stream().map(PublishedVersion::dataset).toList();
    }

    @Test
    void theLeastRecentlyUsedVersionsLeaveAndOnlyAsManyAsNeeded() {
        publishAt(1_000_000, "a");
        publishAt(3_000_000, "b");
        publishAt(2_000_000, "c");

        try (Reservation first = residency.reserve(1, () -> true)) {
            assertThat(resident()).containsExactly("b", "c");
            first.grow(VERSION_BYTES);
            assertThat(resident()).containsExactly("b");
        }
    }

    @Test
    void aVersionThatWasAnnouncedIsUsedAndLeavesLater() {
        PublishedVersion first = publishAt(1_000_000, "a");
        publishAt(1_000_001, "b");
        publishAt(1_000_002, "c");
        residency.protect(first);
        made.setNow(1_000_002 + Usage.PROTECTED_MS);

        residency.reserve(1, () -> true).close();

        assertThat(resident()).containsExactly("a", "c");
    }

    @Test
    void nothingLeavesForALoadThatDoesNotFitAnyway() {
        publishAt(1_000_000, "a");
        publishAt(1_000_000, "b");
        residency.pin("b", true);
        made.publish("c", Provenance.computed(0));

        assertThatThrownBy(() -> residency.reserve(2 * VERSION_BYTES, () -> true))
                .hasMessageContaining("not enough space: needed=131072 free=0 evictable=65536 leased=0 pinned=65536"
                        + " unsourced=65536 reserved=0 capacity=196608 metadata=")
                .hasMessageContaining(
                        "end readers, unpin datasets, evict those that you no longer need, raise --capacity");
        assertThat(resident()).containsExactly("a", "b", "c");
    }

    @Test
    void aFailedReservationReturnsWhatItHad() {
        Reservation held = residency.reserve(VERSION_BYTES, () -> true);
        assertThatThrownBy(() -> held.grow(3 * VERSION_BYTES)).hasMessageContaining("reserved=65536");
        assertThatThrownBy(() -> residency.reserve(3 * VERSION_BYTES, () -> true))
                .hasMessageContaining("reserved=65536");
        held.close();

        residency.reserve(3 * VERSION_BYTES, () -> true).close();
    }

    @Test
    void aReservationThatMayNotEvictFailsOnceTheStoreIsFull() {
        Stream.of("a", "b").forEach(name -> publishAt(1_000_000, name));

        try (Reservation reservation = residency.reserveWithoutEvicting()) {
            reservation.grow(VERSION_BYTES);
            assertThatThrownBy(() -> reservation.grow(1))
                    .hasMessageContaining("not enough space: needed=1 free=0 reserved=65536 capacity=196608 metadata=0")
                    .hasMessageContaining("evict datasets that you no longer need with larder evict");
        }
        assertThat(resident()).containsExactly("a", "b");
    }

    @Test
    void aVersionIsProtectedForAWhileAfterItWasAnnounced() {
        PublishedVersion version = publishAt(1_000_000, "a");
        Usage usage = new Usage();
        assertThat(usage.isProtected(version, 0)).isFalse();
        assertThat(usage.lastUseMs(version)).isEqualTo(1_000_000);

        usage.protect(version, 5_000_000);
        assertThat(usage.isProtected(version, 5_000_000 + Usage.PROTECTED_MS - 1))
                .isTrue();
        assertThat(usage.isProtected(version, 5_000_000 + Usage.PROTECTED_MS)).isFalse();

        usage.note(version, 4_000_000);
        assertThat(usage.lastUseMs(version)).as("the latest use").isEqualTo(5_000_000);
        usage.forget(version);
        assertThat(usage.isProtected(version, 5_000_000)).isFalse();
        assertThat(usage.lastUseMs(version)).isEqualTo(1_000_000);
    }
}
