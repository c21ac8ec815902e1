package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.Leases;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class DatasetTest {
    private StoreFixture fixture;
    private Larder larder;

    @BeforeEach
    void connect() {
        fixture = StoreFixture.create();
        publish(1);
        larder = Larder.connect(fixture.store());
    }

    @AfterEach
    void close() {
        larder.close();
        fixture.close();
    }

    @Test
    void itTellsNameVersionDigestAndSortedNamesOfItsArrays() {
        Dataset dataset = larder.dataset("d");

        assertThat(dataset.name()).isEqualTo("d");
        assertThat(dataset.version()).isEqualTo(1);
        assertThat(dataset.digest()).matches("[0-9a-f]{64}");
        assertThat(dataset.arrayNames()).containsExactly("labels", "values");
        assertThat(dataset).hasToString("Dataset{d version 1}");
    }

    @Test
    void sameContentsHaveTheSameDigestInAnyVersion() {
        String first = larder.dataset("d").digest();
        publish(2);
        String second = larder.dataset("d").digest();
        publish(1);
        String third = larder.dataset("d").digest();

        assertThat(second).isNotEqualTo(first);
        assertThat(third).isEqualTo(first);
    }

    @Test
    void anUnknownArrayIsRefusedWithTheNamesThatThereAre() {
        Dataset dataset = larder.dataset("d");

        assertThatThrownBy(() -> dataset.array("value"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("dataset=d version=1 array=value")
                .hasMessageEndingWith("; did you mean values? there are labels, values");
        assertThat(dataset.array("values").getInt(0)).isEqualTo(1);
    }

    @Test
    void ofManyArraysOnlySomeAreNamed() {
        Map<String, FixtureArray> many = new TreeMap<>();
        for (int i = 10; i < 40; i++) {
            many.put("array-" + i, FixtureArray.ints(new int[] {i}, 1));
        }
        fixture.publish("many", many);

        Dataset dataset = larder.dataset("many");
        assertThatThrownBy(() -> dataset.array("labels"))
                .hasMessageContaining("there are array-10, ")
                .hasMessageContaining("array-19, … (30)")
                .hasMessageNotContaining("array-20");
        assertThatThrownBy(() -> dataset.array("aray-39")).hasMessageContaining("did you mean array-39, ");
    }

    @Test
    void everyCallerHasTheSameViewWhichNoneOfThemCanClose() {
        Dataset dataset = larder.dataset("d");
        ArrayView first = dataset.array("values");

        assertThat(dataset.array("values")).isSameAs(first).isNotInstanceOf(AutoCloseable.class);
    }

    @Test
    void closingAnArrayThatWasOpenedAloneKeepsTheLeaseAndTheViewsOfOthers() {
        Dataset dataset = larder.dataset("d");
        ArrayView labels = dataset.array("labels");

        larder.open("d/labels").close();

        assertThat(labels.getInt(0)).isEqualTo(101);
        assertThat(isLeased(1)).isTrue();
    }

    @Test
    void theLeaseLastsUntilTheLastHandleOfTheVersionIsClosed() {
        Dataset first = larder.dataset("d");
        Dataset second = larder.dataset("d");
        assertThat(isLeased(1)).isTrue();

        first.close();
        assertThat(isLeased(1)).isTrue();

        second.close();
        assertThat(isLeased(1)).isFalse();
    }

    @Test
    void arraysOfOneDatasetAreOfOneVersionHoweverManyArePublished() {
        Dataset first = larder.dataset("d");
        ArrayView labels = first.array("labels");
        publish(2);
        ArrayView values = first.array("values");
        Dataset second = larder.dataset("d");

        assertThat(labels.getInt(0)).isEqualTo(101);
        assertThat(values.getInt(0)).isEqualTo(1);
        assertThat(second.version()).isEqualTo(2);
        assertThat(second.array("labels").getInt(0)).isEqualTo(102);
        assertThat(second.array("values").getInt(0)).isEqualTo(2);
    }

    @Test
    void readersSeeWholeVersionsWhileMoreArePublishedAndOldOnesGo() throws Exception {
        ExecutorService publisher = Executors.newSingleThreadExecutor();
        try {
            Future<?> publishing = publisher.submit(() -> {
                for (int version = 2; version < 300; version++) {
                    publish(version);
                    fixture.retire("d", version - 1);
                }
            });
            while (!publishing.isDone()) {
                try (Dataset dataset = larder.dataset("d")) {
                    int value = dataset.array("values").getInt(0);
                    assertThat((long) value).isEqualTo(dataset.version());
                    assertThat(dataset.array("labels").getInt(0)).isEqualTo(100 + value);
                }
            }
            publishing.get();
        } finally {
            publisher.shutdownNow();
            assertThat(publisher.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aClosedDatasetRefusesEverythingButItsName() {
        Dataset dataset = larder.dataset("d");
        List<String> names = dataset.arrayNames();
        ArrayView view = dataset.array("values");

        dataset.close();
        dataset.close();

        assertThat(view.isOpen()).isFalse();
        assertThatThrownBy(() -> view.getInt(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> dataset.array("values"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("dataset=d");
        assertThatThrownBy(dataset::arrayNames).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> names.get(0)).isInstanceOf(IllegalStateException.class);
        assertThat(dataset.name()).isEqualTo("d");
        assertThat(dataset.version()).isEqualTo(1);
    }

    @Test
    void aTruncatedSegmentIsRefusedBeforeAnythingIsRead() throws IOException {
        try (FileChannel channel = FileChannel.open(file("values.npy"), StandardOpenOption.WRITE)) {
            channel.truncate(4097);
        }
        Dataset dataset = larder.dataset("d");

        assertDamaged(() -> dataset.array("values"), "file is shorter than its index says");
        assertThat(dataset.array("labels").getInt(0)).isEqualTo(101);
    }

    @Test
    void aMissingSegmentIsDamageAndNotAnUnknownName() throws IOException {
        Files.delete(file("values.npy"));

        assertDamaged(() -> larder.dataset("d").array("values"), "missing");
    }

    @Test
    void anArrayThatIsAskedForAfterTheStoreWasRemovedIsNoDamage() {
        Dataset dataset = larder.dataset("d");
        ArrayView labels = dataset.array("labels");
        fixture.unlink("d", 1);

        assertThatThrownBy(() -> dataset.array("values"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON))
                .hasMessageContaining("the store was removed while its dataset was leased");
        assertThat(labels.getInt(0)).isEqualTo(101);
    }

    @Test
    void linksInPlaceOfSegmentsAreNotFollowed() throws IOException {
        Path elsewhere = Files.move(file("values.npy"), fixture.store().resolve("elsewhere"));
        Files.createSymbolicLink(file("values.npy"), elsewhere);

        assertThatThrownBy(() -> larder.dataset("d").array("values"))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("open failed");
    }

    @Test
    void viewsThatFailToOpenLeaveNoMappingBehind() throws IOException {
        Files.delete(file("values.npy"));
        List<Dataset> opened = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Dataset dataset = larder.dataset("d");
            opened.add(dataset);
            assertDamaged(() -> dataset.array("values"), "missing");
        }
        opened.forEach(Dataset::close);

        assertThat(Files.readString(Path.of("/proc/self/maps")))
                .doesNotContain(fixture.store().toString());
        assertThat(isLeased(1)).isFalse();
    }

    private static void assertDamaged(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CHECKSUM))
                .hasMessageContaining(message);
    }

    private void publish(int value) {
        fixture.publish(
                "d",
                Map.of(
                        "values", FixtureArray.ints(new int[] {value}, 1),
                        "labels", FixtureArray.ints(new int[] {100 + value}, 1)));
    }

    private boolean isLeased(long version) {
        return Leases.isLeased(fixture.layout().version("d", version));
    }

    private Path file(String name) {
        return fixture.layout().version("d", 1).resolve(name).toAbsolutePath();
    }

    @Test
    void pinnedManifestLeaseAndIndexAreNamesThatArraysMayHave() {
        Map<String, FixtureArray> arrays = new TreeMap<>();
        for (String name : List.of(StoreLayout.INDEX, StoreLayout.LEASE + "/a", StoreLayout.PINNED + "/b")) {
            arrays.put(name, FixtureArray.ints(new int[] {name.length()}, 1));
        }
        fixture.publish("odd", arrays);

        try (Dataset odd = larder.dataset("odd")) {
            assertThat(odd.arrayNames()).containsExactlyElementsOf(arrays.keySet());
            assertThat(odd.arrayNames())
                    .allSatisfy(name -> assertThat(odd.array(name).getInt(0)).isEqualTo(name.length()));
        }
    }
}
