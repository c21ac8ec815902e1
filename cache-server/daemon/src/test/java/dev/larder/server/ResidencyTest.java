package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Retention;
import dev.larder.npy.Dtype;
import dev.larder.testing.Folders;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPOutputStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stays in a store of little room, what leaves it, and what comes back. */
class ResidencyTest {
    private static final int MIB = 1 << 20;

    @TempDir
    Path sources;

    private final ServedStore served = ServedStore.create();

    @BeforeEach
    void start() {
        served.start(OptionalLong.of(10 * MIB));
    }

    @AfterEach
    void close() {
        served.close();
    }

    private Path source(String name, int mebibytes) {
        return ServedStore.writeBytes(sources.resolve(name + ".npy"), mebibytes * MIB - StoreLayout.DATA_START);
    }

    private void load(String name, int mebibytes) {
        served.load(name, source(name, mebibytes));
    }

    private void load(String name, int mebibytes, Retention retention) {
        LoadRequest request = ServedStore.request(name, source(name, mebibytes)).withRetention(retention);
        served.control().load(request, progress -> {});
    }

    private List<String> states() {
        return served.control().list("", true).stream()
                .map(row -> row.name() + " " + row.state().text())
                .toList();
    }

    private void build(String name, int mebibytes) {
        try (Larder larder = Larder.connect(served.root());
                var array = larder.create(name, Dtype.parse("|u1"), (long) mebibytes * MIB - StoreLayout.DATA_START)) {
            array.publish();
        }
    }

    @Test
    void whatWasUsedLeastRecentlyMakesRoomAndStaysKnown() {
        load("a", 4);
        load("b", 4);
        load("c", 4);

        assertThat(states()).containsExactly("a registered", "b/b resident", "c/c resident");
        assertThat(served.control().status().usedBytes()).isEqualTo(8 * MIB);
    }

    @Test
    void neitherOfTwoThatDriveEachOtherOutIsForgotten() {
        load("a", 6);
        load("b", 6);

        Rounds turns = Rounds.of("datasets that drive each other out", 3);
        for (int turn = 0; turn < turns.count(); turn++) {
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> bringBack("b"));
            bringBack("a");
            other.join();
            assertThat(served.control().list("", true))
                    .as("turn %d", turn)
                    .extracting(row -> row.name().substring(0, 1))
                    .containsExactly("a", "b");
        }
    }

    /** Has a dataset loaded, unless the one that is being loaded takes the room. */
    private void bringBack(String name) {
        try {
            served.control().await(name, Duration.ofSeconds(20), progress -> {});
        } catch (LarderException e) {
            assertThat(e).hasMessageMatching("(not enough space|dataset was removed as soon as it was loaded): .*");
        }
    }

    @Test
    void theNextOpenBringsBackWhatWasEvictedUnderItsOldNumber() {
        load("a", 4);
        String digest = served.control().info("a").get(0).digest();
        served.control().evict("a");
        load("b", 4);
        assertThatThrownBy(() -> served.control().info("a/a"))
                .hasMessageContainingAll("dataset is not in memory now: dataset=a store=", "; larder wait a loads it");

        try (Larder larder = Larder.connect(served.root());
                Dataset a = larder.dataset("a")) {
            assertThat(a.version()).isEqualTo(1);
            assertThat(a.digest()).isEqualTo(digest);
            assertThat(a.array("a").getInt(5)).isEqualTo(5);
        }
    }

    @Test
    void aSourceThatChangedMeanwhileComesBackAsTheNextVersion() {
        load("a", 4);
        served.control().evict("a");
        source("a", 3);

        try (Larder larder = Larder.connect(served.root());
                Dataset a = larder.dataset("a")) {
            assertThat(a.version()).isEqualTo(2);
        }
    }

    @Test
    void whatHasToBeUnpackedIsNotToldToStayWhereItIs() throws IOException {
        Path packed = sources.resolve("large.npy.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            Files.copy(source("large", 20), out);
        }

        assertThatThrownBy(() -> served.load("large", packed))
                .hasMessageContaining("not enough space: needed=")
                .hasMessageMatching(
                        ".* raise --capacity, or use a (larger mount|store on a disk, which has room for it: "
                                + "--store /var/tmp/larder-" + StoreLocation.userName() + ")");
    }

    @Test
    void aRefusalNamesTheLargestComputedDatasets() {
        build("one", 1);
        build("three", 3);
        build("also", 1);
        build("two", 2);

        assertThatThrownBy(() -> load("large", 5))
                .hasMessageMatching(".*computed ones, which do not come back: three, two, (one|also)\\), raise .*");
    }

    @Test
    void leasedPinnedAndComputedDataNeverLeavesAndTheRefusalHasTheNumbers() {
        load("leased", 2);
        load("pinned", 2, new Retention(true, Duration.ZERO));
        build("computed", 2);
        load("free", 2);
        try (Larder larder = Larder.connect(served.root());
                Dataset leased = larder.dataset("leased")) {
            assertThatThrownBy(() -> load("large", 5))
                    .hasMessageContaining("not enough space: needed=" + 5 * MIB + " free=" + 2 * MIB + " evictable="
                            + 2 * MIB + " leased=" + 2 * MIB + " pinned=" + 2 * MIB + " unsourced=" + 2 * MIB)
                    .hasMessageEndingWith("or load it with --in-place, which maps the file without a copy");
            assertThat(states())
                    .containsExactly(
                            "computed/data resident",
                            "free/free resident",
                            "leased/leased resident",
                            "pinned/pinned resident");
            load("fits", 4);
            assertThat(leased.version()).isEqualTo(1);
        }
        assertThat(states())
                .containsExactly(
                        "computed/data resident",
                        "fits/fits resident",
                        "free registered",
                        "leased/leased resident",
                        "pinned/pinned resident");
    }

    @Test
    void aLoadNamesWhatItEvicted() {
        load("a", 4);
        load("b", 4);

        assertThat(served.load("c", source("c", 8)).message())
                .isEqualTo("evicted to make room: datasets=a,b bytes=" + 8 * MIB
                        + "; each is loaded again on request; to keep one: larder pin NAME");
    }

    @Test
    void whatWasComputedIsSaidToBeGoneForGoodWhenItIsEvicted() {
        build("computed", 2);
        load("loaded", 2);

        assertThat(served.control().evict("computed").message()).contains("computed was computed and has no source");
        assertThat(served.control().evict("loaded").message()).isEmpty();
    }

    @Test
    void aBuildOfKnownSizeEvictsBeforeItWrites() {
        ServedStore.requireInMemory(); // else it is copied, and needs twice its size
        load("a", 8);

        build("computed", 6);

        assertThat(states()).containsExactly("a registered", "computed/data resident");
    }

    @Test
    void aBuildThatGrowsArrayByArrayEvictsAsItGrows() {
        ServedStore.requireInMemory(); // else it is copied, and needs twice its size
        load("a", 4);
        load("b", 4);

        try (Larder larder = Larder.connect(served.root());
                Dataset made = larder.getOrCreate("made", build -> {
                    for (int i = 0; i < 4; i++) {
                        build.array("part" + i, Dtype.parse("|u1"), 2L * MIB - StoreLayout.DATA_START);
                    }
                })) {
            assertThat(made.arrayNames()).hasSize(4);
        }
        assertThat(states())
                .filteredOn(state -> state.endsWith("registered"))
                .containsExactly("a registered", "b registered");
    }

    @Test
    void aBuildThatOutgrowsTheStoreIsRefusedWithTheNumbersAndLeavesNothing() {
        try (Larder larder = Larder.connect(served.root())) {
            assertThatThrownBy(() -> larder.getOrCreate("made", build -> {
                        build.array("fits", Dtype.parse("|u1"), 6L * MIB);
                        build.array("outgrows", Dtype.parse("|u1"), 6L * MIB);
                    }))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                    .hasMessageContaining("not enough space: needed=");
            assertThatThrownBy(() -> larder.create("huge", Dtype.parse("|u1"), Long.MAX_VALUE))
                    .hasMessageContaining("not enough space: needed=more than 2^63 bytes");
        }
        load("a", 10);
    }

    @Test
    void whatCanNeverFitEvictsNothing() {
        load("a", 4);

        assertThatThrownBy(() -> load("large", 11)).hasMessageContaining("evictable=" + 4 * MIB);
        assertThat(states()).containsExactly("a/a resident");
    }

    @Test
    void aPinGoesOnWithTheNextVersionAndForbidsEvicting() {
        load("a", 2);
        served.control().pin("a");
        load("a", 3);

        ArrayRow row = served.control().info("a").get(0);
        assertThat(row.version()).isEqualTo(2);
        assertThat(row.pinned()).isTrue();
        assertThat(served.control().status().pinnedBytes()).isEqualTo(3 * MIB);
        assertThatThrownBy(() -> served.control().evict("a"))
                .hasMessageContaining("dataset is pinned: dataset=a version=2");
        served.control().unpin("a");
        served.control().evict("a");
        assertThat(states()).containsExactly("a registered");
    }

    @Test
    void whatNobodyUsesForItsTimeLeaves() {
        load("short", 2, new Retention(false, Duration.ofMillis(100)));
        load("pinned", 2, new Retention(true, Duration.ofMillis(100)));
        load("long", 2, new Retention(false, Duration.ofHours(1)));

        Awaitility.await()
                .untilAsserted(() -> assertThat(states())
                        .containsExactly("long/long resident", "pinned/pinned resident", "short registered"));
    }

    @Test
    void whatIsReadOutlivesItsTime() {
        Retention retention = new Retention(false, Duration.ofMillis(1500));
        load("read", 2, retention);
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView a = larder.open("read")) {
            load("unread", 2, retention);
            Awaitility.await()
                    .untilAsserted(
                            () -> assertThat(states()).containsExactly("read/read resident", "unread registered"));
            assertThat(a.getInt(3)).isEqualTo(3);
        }
        Awaitility.await()
                .untilAsserted(() -> assertThat(states()).containsExactly("read registered", "unread registered"));
    }

    @Test
    void aRegisteredSourceIsLoadedByTheFirstWhoOpensIt() throws IOException {
        served.control().load(ServedStore.request("a", source("a", 2)).withRegisterOnly(true), progress -> {});
        assertThat(states()).containsExactly("a registered");

        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView a = larder.open("a")) {
            assertThat(a.shape()).containsExactly(2L * MIB - StoreLayout.DATA_START);
        }
        assertThat(Files.exists(served.layout().registered("a"))).isFalse();
    }

    @Test
    void aSourceThatIsGoneFailsTheOpenAndStaysRegistered() throws IOException {
        Path source = source("a", 2);
        served.control().load(ServedStore.request("a", source).withRegisterOnly(true), progress -> {});
        Files.delete(source);

        try (Larder larder = Larder.connect(served.root())) {
            assertThatThrownBy(() -> larder.dataset("a"))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining(source.toString());
        }
        assertThat(states()).containsExactly("a registered");
    }

    @Test
    void whatNoLoadWouldTakeIsNotRegistered() throws IOException {
        Path text = Files.writeString(sources.resolve("notes.txt"), "no array");
        Path packed = Files.writeString(sources.resolve("packed.npy.gz"), "whatever");
        LoadRequest inPlace = new LoadRequest(
                ServedStore.request("b", packed).sources(), LoadOptions.none().withInPlace(true), 0);

        assertThatThrownBy(() -> register(ServedStore.request("a", text))).hasMessageContaining("load it --as strings");
        assertThatThrownBy(() -> register(inPlace)).hasMessageContaining("cannot be mapped in place");
        assertThat(states()).isEmpty();
    }

    private void register(LoadRequest request) {
        served.control().load(request.withRegisterOnly(true), progress -> {});
    }

    @Test
    void whatIsForgottenIsUnknown() {
        load("a", 2);
        served.control().forget("a");
        load("b", 2);
        served.control().evict("b");
        served.control().forget("b");

        assertThat(states()).isEmpty();
        try (Larder larder = Larder.connect(served.root())) {
            assertThatThrownBy(() -> larder.dataset("a"))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
        }
    }

    @Test
    void whatIsRegisteredIsStillKnownAfterARestart() {
        load("a", 4);
        served.control().evict("a");
        served.control().stop(true, progress -> {});
        served.start(OptionalLong.of(10 * MIB));

        try (Larder larder = Larder.connect(served.root());
                Dataset a = larder.dataset("a")) {
            assertThat(a.version()).isEqualTo(1);
        }
    }

    @Test
    void filesThatAreRemovedUnderTheDaemonAreLoadedAgainWhileReadersGoOn() throws IOException {
        load("a", 2);
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView before = larder.open("a")) {
            Folders.remove(served.layout().dataset("a"));
            try (OwnedArrayView after = larder.open("a")) {
                assertThat(after.getInt(7)).isEqualTo(7);
            }
            assertThat(before.getInt(9)).isEqualTo(9);
        }
        assertThat(served.control().errors())
                .anySatisfy(error ->
                        assertThat(error.message()).contains("files of a version vanished: dataset=a version=1"));
    }

    @Test
    void computedDataThatIsRemovedUnderTheDaemonIsNoticedWithoutBeingAskedFor() throws IOException {
        build("a", 1);
        Folders.remove(served.layout().dataset("a"));

        Awaitility.await().untilAsserted(() -> assertThat(states()).isEmpty());
        try (Larder larder = Larder.connect(served.root())) {
            assertThatThrownBy(() -> larder.dataset("a")).hasMessageContaining("no such dataset");
        }
    }

    @Test
    void aStoreThatIsRemovedUnderTheDaemonIsMadeAnewAndLoadedAgain() throws IOException {
        load("a", 2);
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView before = larder.open("a")) {
            Folders.remove(served.root());
            Awaitility.await().until(() -> Files.exists(served.layout().socket()));
            try (OwnedArrayView after = larder.open("a")) {
                assertThat(after.getInt(7)).isEqualTo(7);
            }
            assertThat(before.getInt(9)).isEqualTo(9);
        }
    }

    @Test
    void aDaemonWhoseStoreWasRemovedAndTakenByAnotherEndsAndTouchesNothing() throws IOException {
        load("a", 2);
        Folders.remove(served.root());
        try (Daemon other = Daemon.start(new DaemonConfig(served.root(), OptionalLong.empty(), 1))) {
            Awaitility.await().until(served::isStopped);
            assertThat(served.control().info().pid())
                    .isEqualTo(ProcessHandle.current().pid());
            assertThat(Files.exists(other.layout().lock())).isTrue();
        }
    }
}
