package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.IndexDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.LeaseHolder;
import dev.larder.testing.Leases;
import dev.larder.testing.RefusingPosix;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("races")
class LarderTest {
    private StoreFixture fixture;
    private Larder larder;

    @BeforeEach
    void connect() {
        fixture = StoreFixture.create();
        fixture.publish("one", Map.of("only", FixtureArray.ints(new int[] {7}, 1)));
        larder = Larder.connect(fixture.store());
    }

    @AfterEach
    void close() {
        larder.close();
        fixture.close();
    }

    @Test
    void theNameOfADatasetStandsForItsOnlyArray() {
        try (OwnedArrayView view = larder.open("one")) {
            assertThat(view.name()).isEqualTo("only");
            assertThat(view.getInt(0)).isEqualTo(7);
        }
    }

    @Test
    void theNameOfADatasetWithSeveralArraysIsRefusedWithTheirNames() {
        fixture.publish(
                "two", Map.of("a", FixtureArray.ints(new int[] {1}, 1), "b", FixtureArray.ints(new int[] {2}, 1)));

        assertFails(
                () -> larder.open("two"),
                ErrorCode.NOT_FOUND,
                "arrays=2 store=" + fixture.store() + "; name one: two/a, two/b");
        assertThat(isLeased("two")).isFalse();
        try (OwnedArrayView view = larder.open("two/b")) {
            assertThat(view.getInt(0)).isEqualTo(2);
        }
    }

    @Test
    void closingAnOpenedViewEndsItsLease() {
        OwnedArrayView view = larder.open("one/only");
        assertThat(isLeased("one")).isTrue();

        view.close();
        view.close();

        assertThat(isLeased("one")).isFalse();
        assertThatThrownBy(() -> view.getInt(0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void anUnknownArrayLeavesNoLease() {
        assertFails(() -> larder.open("one/other"), ErrorCode.NOT_FOUND, "there is only");
        assertThat(isLeased("one")).isFalse();
    }

    @Test
    void namesMayBeOfAnyScript() {
        fixture.publish("größe-日本", Map.of("naïve/größe=1", FixtureArray.ints(new int[] {5}, 1)));

        try (OwnedArrayView view = larder.open("größe-日本/naïve/größe=1")) {
            assertThat(view.getInt(0)).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ".", "..", "../one", "/one", "one/..", "one/../x", "a b", "one//only", ".hidden", "a\0b"})
    void namesThatCannotBeAreRefusedBeforeAnyFileIsLookedAt(String name) {
        assertThatThrownBy(() -> larder.open(name))
                .isInstanceOfSatisfying(
                        LarderException.class,
                        e -> assertThat(e.code()).isIn(ErrorCode.BAD_INPUT, ErrorCode.NOT_FOUND));
        assertThat(isLeased("one")).isFalse();
    }

    @Test
    void aClosedLarderHasClosedEverythingAndRefuses() {
        Dataset dataset = larder.dataset("one");
        OwnedArrayView opened = larder.open("one");

        larder.close();
        larder.close();

        assertThat(opened.isOpen()).isFalse();
        assertThatThrownBy(() -> dataset.array("only")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> larder.dataset("one"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("larder is closed");
        assertThatThrownBy(() -> larder.open("one")).isInstanceOf(IllegalStateException.class);
        assertThat(isLeased("one")).isFalse();
    }

    @Test
    void anAbsentStoreIsRefusedWithTheWayToStartOne() {
        Path absent = fixture.store().resolve("absent");

        assertFails(
                () -> Larder.connect(absent),
                ErrorCode.NO_DAEMON,
                "store=" + absent + "; start a daemon: larder serve");
        assertFails(() -> Larder.connect(absent, Duration.ofMillis(20)), ErrorCode.DEADLINE, "larder serve");
    }

    @Test
    void aMissingDatasetNeedsADaemonAndSaysSo() {
        assertFails(
                () -> larder.dataset("missing"),
                ErrorCode.NO_DAEMON,
                fixture.store().toString());
    }

    @Test
    void aStoreOfAnotherUserIsRefused() throws IOException {
        Assumptions.assumeTrue(Posix.system().userId() == 0, "only root can give a folder away");
        Files.setAttribute(fixture.store(), "unix:uid", 65_534);

        assertFails(() -> Larder.connect(fixture.store()), ErrorCode.REFUSED, "belongs to another user");
        Files.delete(Files.move(fixture.layout().data(), fixture.store().resolve("moved"))
                .resolve("one/current"));
        assertFails(() -> Larder.connect(fixture.store()), ErrorCode.REFUSED, "belongs to another user");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "garbage", "../../x", "1/../1", "-1", " 1", "1x", "/", "..", "99999999999999999999"})
    void aCurrentLinkThatNamesNoVersionLeadsNowhere(String text) throws IOException {
        plantVersion(fixture.store().resolve("x"));
        pointCurrentTo(text);

        assertFails(() -> larder.dataset("one"), ErrorCode.NO_DAEMON, "no daemon");
        assertThat(isLeased("one")).isFalse();
    }

    @Test
    void aCurrentThatIsAbsentOrNoLinkLeadsNowhere() throws IOException {
        Files.delete(fixture.layout().current("one"));
        assertFails(() -> larder.dataset("one"), ErrorCode.NO_DAEMON, "no daemon");

        Files.writeString(fixture.layout().current("one"), "1");
        assertFails(() -> larder.dataset("one"), ErrorCode.NO_DAEMON, "no daemon");
    }

    @Test
    void whileAVersionIsBeingRetiredItsSuccessorIsOpened() throws Exception {
        Posix posix = Posix.system();
        int descriptor = posix.openForReading(folder("one").resolve(StoreLayout.LEASE));
        assertThat(posix.tryLockExclusive(descriptor)).isTrue();
        CompletableFuture<Dataset> opening = CompletableFuture.supplyAsync(() -> larder.dataset("one"));
        fixture.publish("one", Map.of("only", FixtureArray.ints(new int[] {8}, 1)));
        fixture.unlink("one", 1);
        posix.close(descriptor);

        try (Dataset dataset = opening.get(60, TimeUnit.SECONDS)) {
            assertThat(dataset.version()).isEqualTo(2);
            assertThat(dataset.array("only").getInt(0)).isEqualTo(8);
        }
    }

    @Test
    void aLeaseThatIsRemovedBeforeItIsLockedIsNoLease() {
        Posix slow = RefusingPosix.before("tryLockShared", () -> fixture.unlink("one", 1));

        assertThat(Lease.tryTake(slow, folder("one"))).isNull();
    }

    @Test
    void aVersionThatIsMadeAnewAtTheSamePathHasALeaseOfItsOwn() throws IOException {
        try (Dataset former = larder.dataset("one")) {
            assertThat(former.version()).isEqualTo(1);
            Path lease = folder("one").resolve(StoreLayout.LEASE);
            Files.delete(lease);
            Files.createFile(lease);

            try (Dataset present = larder.dataset("one")) {
                assertThat(present.version()).isEqualTo(1);
                assertThat(isLeased("one")).isTrue();
            }
        }
    }

    @Test
    void aDaemonThatLooksWhetherAVersionIsLeasedDisturbsNobody() throws Exception {
        AtomicBoolean looking = new AtomicBoolean(true);
        CompletableFuture<Void> daemon = CompletableFuture.runAsync(() -> {
            while (looking.get()) {
                Leases.isLeased(folder("one"));
            }
        });
        try {
            for (int i = 0; i < 3_000; i++) {
                try (OwnedArrayView view = larder.open("one")) {
                    assertThat(view.getInt(0)).isEqualTo(7);
                }
            }
        } finally {
            looking.set(false);
            daemon.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void aDaemonThatLooksWhetherAVersionIsLeasedDisturbsNobodyWhoAsksForThatVersion() throws Exception {
        String digest = digest();
        AtomicBoolean looking = new AtomicBoolean(true);
        CompletableFuture<Void> daemon = CompletableFuture.runAsync(() -> {
            while (looking.get()) {
                Leases.isLeased(folder("one"));
            }
        });
        try {
            assertThatCode(() -> {
                        for (int i = 0; i < 2_000; i++) {
                            larder.dataset("one", 1).close();
                            larder.datasetWithDigest("one", digest).close();
                        }
                    })
                    .doesNotThrowAnyException();
        } finally {
            looking.set(false);
            daemon.get(60, TimeUnit.SECONDS);
        }
    }

    private String digest() {
        try (Dataset dataset = larder.dataset("one")) {
            return dataset.digest();
        }
    }

    @Test
    void theLeaseOfAProcessThatIsKilledIsFreeAtOnce() {
        try (ChildJvm child = ChildJvm.start(LeaseHolder.class, fixture.store().toString(), "one")) {
            assertThat(child.awaitLine()).isEqualTo("leased 1");
            assertThat(isLeased("one")).isTrue();

            child.kill();

            assertThat(isLeased("one")).isFalse();
        }
    }

    @Test
    void anIndexWithAnyFieldOfItsHeaderChangedIsRefused() throws IOException {
        for (int at = 0; at < IndexDescriptor.HEADER_LENGTH; at++) {
            for (int flip : new int[] {1, 0x80, 0xff}) {
                assertRefusedWithFlip(at, flip);
            }
        }
    }

    @Test
    void anIndexWithAnyOtherByteChangedIsRefused() throws IOException {
        long length = Files.size(index());
        Random random = new Random(20_260_101);
        for (int i = 0; i < 300; i++) {
            assertRefusedWithFlip(random.nextInt((int) length), 1 + random.nextInt(255));
        }
    }

    private void assertRefusedWithFlip(int at, int flip) throws IOException {
        byte[] good = Files.readAllBytes(index());
        byte[] bad = good.clone();
        bad[at] ^= (byte) flip;
        Files.write(index(), bad);

        assertThatThrownBy(() -> larder.dataset("one"))
                .as("byte %d xor %02x", at, flip)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isIn(ErrorCode.CHECKSUM, ErrorCode.REFUSED))
                .hasMessageContaining(index().toString());
        assertThat(isLeased("one")).isFalse();
        Files.write(index(), good);
    }

    @Test
    void anIndexOfAnyWrongLengthIsRefused() throws IOException {
        byte[] good = Files.readAllBytes(index());
        for (int length = 0; length < good.length; length += 7) {
            Files.write(index(), Arrays.copyOf(good, length));
            assertFails(() -> larder.dataset("one"), ErrorCode.CHECKSUM, "index");
        }
        Files.write(index(), Arrays.copyOf(good, good.length + 1));
        assertFails(() -> larder.dataset("one"), ErrorCode.CHECKSUM, "index has the wrong length");
    }

    @Test
    void anIndexBeyondAnyLimitIsRefused() throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(index().toFile(), "rw")) {
            file.setLength(3L << 30);
        }

        assertFails(() -> larder.dataset("one"), ErrorCode.CHECKSUM, "not an index");
    }

    @Test
    void aMissingIndexIsTheDaemonsToBringBack() throws IOException {
        Files.delete(index());

        assertFails(() -> larder.dataset("one"), ErrorCode.NO_DAEMON, "no daemon");
        assertFails(() -> larder.dataset("one", 1), ErrorCode.NO_DAEMON, "no daemon");
        assertThat(isLeased("one")).isFalse();
    }

    @Test
    void aTimeoutLongerThanAnyClockIsAsGoodAsAnyOther() {
        try (Dataset dataset = larder.dataset("one", Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThat(dataset.version()).isEqualTo(1);
        }
    }

    @Test
    void anIndexOfAnotherFormatVersionIsRefusedWithBothNumbers() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(index())).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(IndexDescriptor.FORMAT_VERSION_OFFSET, 2);
        Files.write(index(), bytes.array());

        assertFails(() -> larder.dataset("one"), ErrorCode.REFUSED, "found=2 expected=1; use the same Larder release");
    }

    private static void assertFails(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
    }

    private void plantVersion(Path folder) throws IOException {
        Files.createDirectory(folder);
        for (String file : new String[] {StoreLayout.INDEX, StoreLayout.LEASE, "only.npy"}) {
            Files.copy(folder("one").resolve(file), folder.resolve(file));
        }
    }

    private void pointCurrentTo(String text) throws IOException {
        Files.delete(fixture.layout().current("one"));
        Files.createSymbolicLink(fixture.layout().current("one"), Path.of(text));
    }

    private Path folder(String dataset) {
        return fixture.layout().version(dataset, 1);
    }

    private Path index() {
        return folder("one").resolve(StoreLayout.INDEX);
    }

    private boolean isLeased(String dataset) {
        return Leases.isLeased(folder(dataset));
    }
}
