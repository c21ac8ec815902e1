package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.GoldenColumns;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever stands in the arrays of a column, reading it ends with an answer or an exception, never with a dead JVM. */
class DamagedColumnTest {
    private final Map<String, FixtureArray> arrays = GoldenColumns.arrays();
    private StoreFixture fixture;
    private Larder larder;

    @BeforeEach
    void connect() {
        fixture = StoreFixture.create();
        larder = Larder.connect(fixture.store());
    }

    @AfterEach
    void close() {
        larder.close();
        fixture.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1L << 40, Long.MIN_VALUE, Long.MAX_VALUE})
    void offsetsThatLeadElsewhereAreDamage(long offset) {
        longs("path/offsets").putLong(8, offset);
        longs("feat/offsets").putLong(8, offset);
        Dataset dataset = publish();

        requireDamage(() -> dataset.strings("path").get(0));
        requireDamage(() -> dataset.strings("path").utf8(1));
        requireDamage(() -> dataset.ragged("feat").row(0));
        assertThat(dataset.strings("path").get(2)).isEqualTo("scene0685_01");
    }

    @Test
    void slotsThatLeadElsewhereAreDamage() {
        Arrays.fill(array("id/slots").data(), (byte) 0);
        ByteBuffer slots = longs("id/slots");
        for (int slot = 0; slot < slots.capacity(); slot += Long.BYTES) {
            slots.putLong(slot, (42L << 48) | 1000);
        }
        Dataset dataset = publish();

        requireDamage(() -> dataset.index("id").find(42));
        assertThat(dataset.index("id").find(43)).isEqualTo(IndexColumn.ABSENT);
    }

    @Test
    void entriesAndRecordsEndWithTheirArrays() {
        ByteBuffer slots = longs("id/slots");
        for (int slot = 0; slot < slots.capacity(); slot += Long.BYTES) {
            slots.putLong(slot, (slots.getLong(slot) >>> 48 << 48) | (1 + 9)); // one behind the place
        }
        int bytes = array("scene/records").data().length;
        longs("scene/records").putInt(bytes - 4, 0);
        longs("scene/positions").putLong(0, bytes - 12).putLong(8, bytes - 11).putLong(16, -1);
        Dataset dataset = publish();

        requireDamage(() -> dataset.index("id").find(42));
        assertThat(dataset.index("scene").key(0)).isEmpty();
        requireDamage(() -> dataset.index("scene").key(1));
        requireDamage(() -> dataset.index("scene").key(2));
        requireDamage(() -> dataset.index("scene").rowOfKey(2));
    }

    @Test
    void aTextThatIsOneByteTooLongForItsArrayIsDamage() {
        int last = (int) longs("scene/positions").getLong(9 * Long.BYTES);
        int rest = array("scene/records").data().length - last - 12;
        longs("scene/records").putInt(last + 8, rest);
        longs("scene/records").putInt(16 + 8, -1);
        Dataset dataset = publish();
        assertThat(dataset.index("scene").key(9)).hasSize(rest);
        requireDamage(() -> dataset.index("scene").key(1));

        dataset.close();
        longs("scene/records").putInt(last + 8, rest + 1);
        Dataset damaged = publish();
        requireDamage(() -> damaged.index("scene").key(9));
        requireDamage(() -> damaged.index("scene").find("x".repeat(100)));
    }

    @Test
    void negativeRowsAreDamage() {
        longs("scene/records").putLong(16, -1);
        longs("id/entries").putLong(8, Long.MIN_VALUE);
        Dataset dataset = publish();

        requireDamage(() -> dataset.index("scene").find("a"));
        requireDamage(() -> dataset.index("id").find(0));
        assertThat(dataset.index("id").find(1)).isEqualTo((1L << 40) + 1);
    }

    @Test
    void aTableThatIsNoTableIsDamage() {
        FixtureArray slots = array("id/slots");
        FixtureArray entries = array("id/entries");
        replace("id/slots", FixtureArray.of("<u8", Order.C, Arrays.copyOf(slots.data(), 3 * Long.BYTES), 3));
        replace(
                "scene/slots",
                FixtureArray.of("<i8", Order.C, array("scene/slots").data(), 16));
        replace("none/entries", FixtureArray.of("<i8", Order.C, new byte[0], 0, 3));
        Dataset dataset = publish();

        requireDamage(() -> dataset.index("id"));
        requireDamage(() -> dataset.index("scene"));
        requireDamage(() -> dataset.index("none"));
        dataset.close();

        replace("id/slots", slots);
        replace("id/entries", FixtureArray.of("<i8", Order.F, entries.data(), 9, 2));
        Dataset turned = publish();
        requireDamage(() -> turned.index("id"));
    }

    private void replace(String name, FixtureArray by) {
        arrays.put(name, new FixtureArray(by.header(), by.data(), array(name).part()));
    }

    @Test
    void recordsOfImpossibleLengthAreDamage() {
        longs("scene/records").putInt(16 + 8, Integer.MAX_VALUE);
        Dataset dataset = publish();

        requireDamage(() -> dataset.index("scene").find("a"));
        requireDamage(() -> dataset.index("scene").key(1));
    }

    @Test
    void arraysThatDoNotFitTogetherAreDamage() {
        FixtureArray tooShort = FixtureArray.longs(new long[] {0, 1}, 2);
        arrays.put(
                "files/names/offsets",
                new FixtureArray(
                        tooShort.header(),
                        tooShort.data(),
                        array("path/offsets").part()));
        Dataset dataset = publish();

        requireDamage(() -> dataset.bytes("files"));
    }

    @RepeatedTest(20)
    void randomDamageNeverKillsTheJvm() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (FixtureArray array : arrays.values()) {
            for (int i = random.nextInt(20); i > 0 && array.data().length > 0; i--) {
                array.data()[random.nextInt(array.data().length)] = (byte) random.nextInt();
            }
        }
        Dataset dataset = publish();

        readAll(dataset, "seed " + seed);
    }

    private static void readAll(Dataset dataset, String seed) {
        UnsafeBuffer target = new UnsafeBuffer(new byte[1000]);
        for (int k = 0; k < 10; k++) {
            int row = k;
            String text = GoldenColumns.TEXTS.get(k);
            requireNoMoreThanDamage(seed, () -> dataset.index("scene").find(text));
            requireNoMoreThanDamage(seed, () -> dataset.index("scene").key(row));
            requireNoMoreThanDamage(seed, () -> dataset.index("id").find(42 + row));
            requireNoMoreThanDamage(seed, () -> dataset.strings("path").get(row));
            requireNoMoreThanDamage(seed, () -> dataset.ragged("feat").copy(row % 4, target, 0));
            requireNoMoreThanDamage(seed, () -> dataset.ragged("feat").shape(row % 4));
            requireNoMoreThanDamage(seed, () -> dataset.bytes("files").name(row % 3));
        }
    }

    private static void requireNoMoreThanDamage(String seed, Runnable read) {
        try {
            read.run();
        } catch (LarderException e) {
            assertThat(e.code()).as(seed).isEqualTo(ErrorCode.CHECKSUM);
        } catch (IndexOutOfBoundsException | UnsupportedOperationException e) {
            assertThat(e).as(seed).hasMessageMatching("(?s).+"); // of the target, or a row above 2 GiB
        }
    }

    private static void requireDamage(Runnable read) {
        assertThatThrownBy(read::run)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CHECKSUM))
                .hasMessageMatching("(?s)column is damaged: dataset=d version=[12] column=.*");
    }

    private Dataset publish() {
        fixture.publish("d", arrays);
        return larder.dataset("d");
    }

    private FixtureArray array(String name) {
        return Objects.requireNonNull(arrays.get(name));
    }

    private ByteBuffer longs(String name) {
        return ByteBuffer.wrap(array(name).data()).order(ByteOrder.LITTLE_ENDIAN);
    }
}
