package dev.larder.server.residency;

import static dev.larder.server.residency.PublishedStore.VERSION_BYTES;
import static dev.larder.server.residency.PublishedStore.sourced;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.RowsDescriptor;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.InterProcess;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.server.store.space.Mount;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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
                        "end readers, unpin datasets, evict those that you no longer need (the largest computed ones,"
                                + " which do not come back: c), raise --capacity");
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

    private static boolean notAsked() {
        throw new AssertionError("the load waits");
    }

    @Test
    void aReplacedVersionLeavesBeforeAnyThatClientsFind() {
        publishAt(1_000_000, "a");
        publishAt(1_000_001, "a");
        publishAt(1_000_002, "b");
        assertThat(residency.retired()).hasSize(1);

        try (Reservation reservation = residency.reserve(VERSION_BYTES, AdmissionTest::notAsked)) {
            assertThat(reservation.evicted()).isEmpty();
        }

        assertThat(residency.retired()).isEmpty();
        assertThat(resident()).containsExactly("a", "b");
    }

    @Test
    void leasedVersionsStayAndAreCountedAlsoThoseThatWereReplaced() {
        PublishedVersion replaced = publishAt(1_000_000, "a");
        PublishedVersion leased = publishAt(1_000_001, "a");
        publishAt(1_000_002, "b");

        boolean areLeased = lease(
                replaced,
                () -> lease(leased, () -> {
                    assertThatThrownBy(() -> residency.reserve(2 * VERSION_BYTES, AdmissionTest::notAsked))
                            .hasMessageContaining(" evictable=65536 leased=131072 pinned=0 unsourced=0 reserved=0 ");
                    try (Reservation reservation = residency.reserve(VERSION_BYTES, AdmissionTest::notAsked)) {
                        assertThat(reservation.evicted())
                                .extracting(PublishedVersion::dataset)
                                .containsExactly("b");
                        assertThat(reservation.evictionNote())
                                .hasValueSatisfying(note ->
                                        assertThat(note).startsWith("evicted to make room: datasets=b bytes=65536"));
                    }
                }));

        assertThat(areLeased).isTrue();
        assertThat(resident()).containsExactly("a");
    }

    private boolean lease(PublishedVersion version, Runnable use) {
        return made.store().leases().runLeased(version.folder(), use);
    }

    @Test
    void aLoadWaitsForAnAnnouncedVersionNoLongerThanItIsProtected() {
        residency.protect(publishAt(1_000_000, "a"));
        residency.protect(publishAt(1_000_000, "b"));
        publishAt(1_000_000, "c");
        AtomicInteger pauses = new AtomicInteger();

        residency
                .reserve(2 * VERSION_BYTES, () -> {
                    made.setNow(
                            1_000_000 + (pauses.incrementAndGet() < 3 ? Usage.PROTECTED_MS - 1 : Usage.PROTECTED_MS));
                    return true;
                })
                .close();

        assertThat(pauses).hasValue(3);
        assertThat(resident()).hasSize(1);
    }

    @Test
    void aLoadThatFitsWithoutAnnouncedVersionsDoesNotWaitForThem() {
        residency.protect(publishAt(1_000_000, "a"));
        publishAt(1_000_001, "b");

        residency.reserve(2 * VERSION_BYTES, AdmissionTest::notAsked).close();

        assertThat(resident()).containsExactly("a");
    }

    @Test
    void aLoadThatDoesNotFitEvenWithoutAnnouncedVersionsIsRefusedImmediately() {
        residency.protect(publishAt(1_000_000, "a"));
        publishAt(1_000_000, "b");

        assertThatThrownBy(() -> residency.reserve(3 * VERSION_BYTES + 1, AdmissionTest::notAsked))
                .hasMessageContaining("not enough space: needed=196609 free=65536 evictable=131072 leased=0 ")
                .hasMessageContaining("; it is larger than the capacity: raise --capacity, or use ");
        assertThat(resident()).containsExactly("a", "b");
    }

    @Test
    void anInterruptEndsTheWaitOfALoad() {
        residency.protect(publishAt(1_000_000, "a"));
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> residency.reserve(3 * VERSION_BYTES, AdmissionTest::notAsked))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERRUPTED));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(resident()).containsExactly("a");
    }

    @Test
    void aReservationAllowsForIndicesAndManifests() {
        try (Reservation reservation = residency.reserve(VERSION_BYTES, 2, 5, AdmissionTest::notAsked)) {
            assertThat(reservation.metadataBytes()).isEqualTo(2 * 3 * 4096 + 5 * 1024);
            assertThat(reservation.bytes()).isEqualTo(VERSION_BYTES);
        }
    }

    @Test
    void whatNoDiskCanHoldNeedsALargerMount() {
        assertThatThrownBy(() -> residency.reserve(1L << 59, AdmissionTest::notAsked))
                .hasMessageEndingWith(", or use a larger mount");
    }

    @Test
    void aDiskWithRoomIsNamedInTheRefusalOfAStoreInMemory() {
        assumeTrue(Mount.of(Path.of("/var/tmp")).filter(Mount::isVolatile).isEmpty(), "/var/tmp is on a disk");
        assumeTrue(Mount.of(made.layout().root()).filter(Mount::isVolatile).isPresent(), "the store is in memory");

        assertThatThrownBy(() -> residency.reserve(4 * VERSION_BYTES, AdmissionTest::notAsked))
                .hasMessageEndingWith(", or use a store on a disk, which has room for it: --store /var/tmp/larder-"
                        + StoreLocation.userName());
    }

    private RegionRow makeRows(String name) {
        long bytes = VERSION_BYTES - RegionDescriptor.DATA_OFFSET;
        return made.store()
                .regions()
                .create(
                        new RegionRequest.Create(name, RowsDescriptor.KIND, bytes),
                        1,
                        () -> residency.reserve(VERSION_BYTES, AdmissionTest::notAsked))
                .join();
    }

    /** Attaches a region as a client does, until the descriptor is closed. */
    private int attach(RegionRow region) {
        int locks = Posix.system().openForWriting(made.layout().regions().resolve(RegionDescriptor.LOCKS_FILE));
        assertThat(InterProcess.system().tryLockRange(locks, region.id() + RegionDescriptor.ATTACHED_LOCK, 1, false))
                .isTrue();
        assertThat(made.store().regions().persistent()).isNotEmpty(); // its use is seen
        return locks;
    }

    @Test
    void computedRowsThatNoProcessHasOpenLeaveInTheOrderOfTheirLastUse() {
        made.store().sweepShared();
        publishAt(Long.MAX_VALUE / 2, "later");
        Posix.system().close(attach(makeRows("rows")));
        publishAt(1_000, "earlier");

        try (Reservation reservation = residency.reserve(VERSION_BYTES, AdmissionTest::notAsked)) {
            assertThat(resident()).containsExactly("later");
            assertThat(made.store().regions().list()).hasSize(1);
            reservation.grow(1);
            assertThat(made.store().regions().list()).isEmpty();
            assertThat(reservation.evictionNote())
                    .hasValueSatisfying(note -> assertThat(note)
                            .startsWith("evicted to make room: rows=rows bytes=65536;")
                            .contains("evicted to make room: datasets=earlier bytes=65536"));
        }
        assertThat(resident()).containsExactly("later");
    }

    @Test
    void computedRowsThatAProcessHasOpenStayAndAreCounted() {
        made.store().sweepShared();
        int attached = attach(makeRows("rows"));
        publishAt(1_000_000, "a");

        assertThatThrownBy(() -> residency.reserve(2 * VERSION_BYTES + 1, AdmissionTest::notAsked))
                .hasMessageContaining(" free=65536 evictable=65536 leased=65536 pinned=0 ");
        residency.reserve(2 * VERSION_BYTES, AdmissionTest::notAsked).close();

        assertThat(made.store().regions().list()).hasSize(1);
        assertThat(resident()).isEmpty();
        Posix.system().close(attached);
    }
}
