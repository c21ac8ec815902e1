package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class ArrayViewTest {
    private static final float[] COUNT = floats(24);

    private StoreFixture fixture;
    private Larder larder;
    private Dataset dataset;

    @BeforeEach
    void publish() {
        fixture = StoreFixture.create();
        fixture.publish(
                "d",
                Map.of(
                        "cube", FixtureArray.floats(COUNT, 2, 3, 4),
                        "bytes", FixtureArray.bytes(new byte[] {0, 1, (byte) 0xff, 3}, 4),
                        "big", FixtureArray.of(">i4", Order.C, bigEndian(1, -2, 3), 3),
                        "fortran", FixtureArray.of("|u1", Order.F, new byte[] {0, 1, 2, 3, 4, 5}, 2, 3),
                        "half", FixtureArray.of("<f2", Order.C, new byte[] {0, 0x3c, 0, (byte) 0xc0, 1, 0}, 3),
                        "unsigned", FixtureArray.of("<u8", Order.C, littleEndian(-1L, 7L), 2),
                        "scalar", FixtureArray.longs(new long[] {42}),
                        "empty", FixtureArray.floats(new float[0], 0, 5)));
        larder = Larder.connect(fixture.store());
        dataset = larder.dataset("d");
    }

    @AfterEach
    void close() {
        larder.close();
        fixture.close();
    }

    @Test
    void elementsAreReadByIndexInCOrder() {
        ArrayView cube = dataset.array("cube");

        assertThat(cube.getFloat(0, 0, 0)).isEqualTo(0f);
        assertThat(cube.getFloat(1, 2, 3)).isEqualTo(23f);
        assertThat(cube.getDouble(1, 0, 2)).isEqualTo(14.0);
        assertThat(cube.shape()).containsExactly(2, 3, 4);
        assertThat(cube.rowByteSize()).isEqualTo(48);
    }

    @Test
    void fortranOrderIsHonoured() {
        ArrayView fortran = dataset.array("fortran");

        assertThat(fortran.getInt(1, 0)).isEqualTo(1);
        assertThat(fortran.getInt(0, 1)).isEqualTo(2);
        assertThatThrownBy(() -> fortran.row(0))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Fortran");
    }

    @Test
    void numbersAreConvertedAsTheirDtypeSays() {
        assertThat(dataset.array("big").getInt(1)).isEqualTo(-2);
        assertThat(dataset.array("bytes").getFloat(2)).isEqualTo(255f);
        assertThat(dataset.array("half").getFloat(0)).isEqualTo(1f);
        assertThat(dataset.array("half").getFloat(1)).isEqualTo(-2f);
        assertThat(dataset.array("half").getFloat(2)).isEqualTo(0x1p-24f);
        assertThat(dataset.array("unsigned").getDouble(0)).isEqualTo(0x1p64);
        assertThat(dataset.array("scalar").getLong(new long[0])).isEqualTo(42);
    }

    @Test
    void conversionsThatWouldLoseTheValueAreRefused() {
        assertThatThrownBy(() -> dataset.array("unsigned").getLong(0)).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> dataset.array("cube").getLong(0, 0, 0))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("getLong")
                .hasMessageContaining("getFloat");
        assertThatThrownBy(() -> dataset.array("cube").getInt(0, 0, 0)).hasMessageContaining("getInt");
    }

    @Test
    void wrongIndicesAreExceptions() {
        ArrayView cube = dataset.array("cube");

        assertThatThrownBy(() -> cube.getFloat(2, 0, 0))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("array=cube index=[2, 0, 0] shape=[2, 3, 4]");
        assertThatThrownBy(() -> cube.getFloat(0, -1, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> cube.getFloat(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("array=cube given=1 dimensions=3");
        assertThatThrownBy(() -> cube.row(Long.MAX_VALUE)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> cube.byteBuffer(1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.array("scalar").rows()).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void rowsAreGatheredInTheOrderAsked() {
        UnsafeBuffer target = new UnsafeBuffer(ByteBuffer.allocateDirect(3 * 48 + 8));

        dataset.array("cube").copyRows(new long[] {1, 0, 1}, target, 8);

        assertThat(target.getFloat(8)).isEqualTo(12f);
        assertThat(target.getFloat(8 + 48)).isEqualTo(0f);
        assertThat(target.getFloat(8 + 96 + 44)).isEqualTo(23f);
    }

    @Test
    void gatherIntoAByteBufferLeavesItsPositionAlone() {
        ByteBuffer target = ByteBuffer.allocate(96).order(ByteOrder.LITTLE_ENDIAN);

        dataset.array("cube").copyRows(new long[] {1, 0}, target, 0);

        assertThat(target.position()).isZero();
        assertThat(target.getFloat(0)).isEqualTo(12f);
    }

    @Test
    void gatherRefusesRowsAndTargetsThatDoNotFit() {
        ArrayView cube = dataset.array("cube");
        UnsafeBuffer small = new UnsafeBuffer(new byte[50]);

        assertThatThrownBy(() -> cube.copyRows(new long[] {0, 2}, new UnsafeBuffer(new byte[96]), 0))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("row=2")
                .hasMessageContaining("rows=2");
        assertThatThrownBy(() -> cube.copyRows(new long[] {-1}, small, 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> cube.copyRows(new long[] {0, 1}, small, 0))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("offset=0 bytes=96 capacity=50");
        assertThatThrownBy(() -> cube.copyRows(new long[] {0}, small, 3)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void gatherNeverCrashesWhenAnotherThreadChangesTheRowsMeanwhile() throws Exception {
        ArrayView cube = dataset.array("cube");
        long[] rows = new long[64];
        UnsafeBuffer target = new UnsafeBuffer(new byte[64 * 48]);
        AtomicBoolean running = new AtomicBoolean(true);
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            for (int i = 0; running.get(); i++) {
                VarHandle.fullFence();
                rows[i % 64] = i % 1_000 == 0 ? Long.MAX_VALUE / 64 : i % 2;
            }
        });
        for (int i = 0; i < 20_000; i++) {
            try {
                cube.copyRows(rows, target, 0);
            } catch (IndexOutOfBoundsException e) {
                assertThat(e).hasMessageContaining("row is out of range");
            }
        }
        running.set(false);
        writer.get(60, TimeUnit.SECONDS);
    }

    @Test
    void readOnlyTargetsAreRefusedInsteadOfCrashing() {
        ArrayView cube = dataset.array("cube");
        ByteBuffer readOnly = cube.byteBuffer(0, 2);

        assertThatThrownBy(() -> cube.copyRows(new long[] {0}, readOnly, 0))
                .isInstanceOf(ReadOnlyBufferException.class);
        assertThatThrownBy(() -> cube.copyRows(new long[] {0}, new UnsafeBuffer(readOnly), 0))
                .isInstanceOf(ReadOnlyBufferException.class);
        assertThatThrownBy(() -> cube.row(0).getBytes(0, readOnly, 0, 4)).isInstanceOf(ReadOnlyBufferException.class);
        assertThatThrownBy(() -> readOnly.putInt(0, 1)).isInstanceOf(ReadOnlyBufferException.class);
    }

    @Test
    void aRowIsAWindowWithBoundsOfItsOwn() {
        DirectBuffer row = dataset.array("cube").row(1);
        byte[] copy = new byte[4];

        row.getBytes(0, copy);

        assertThat(row.capacity()).isEqualTo(48);
        assertThat(row.getFloat(44)).isEqualTo(23f);
        assertThat(ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).getFloat())
                .isEqualTo(12f);
        assertThatThrownBy(() -> row.getFloat(45)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> row.getByte(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> row.getBytes(40, new byte[9])).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aWindowGivesNoWayAroundItsChecks() {
        DirectBuffer row = dataset.array("cube").row(0);

        assertThatThrownBy(() -> new UnsafeBuffer(row)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> new UnsafeBuffer(new byte[8]).putBytes(0, row, 0, 8))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("getBytes");
        assertThatThrownBy(() -> row.wrap(0L, 8)).isInstanceOf(UnsupportedOperationException.class);
        assertThat(row.byteArray()).isNull();
        assertThat(row.byteBuffer()).isNull();
    }

    @Test
    void dataIsReadAsItLiesWhateverTheOrder() {
        ByteBuffer data = dataset.array("cube").dataBuffer(8, 8);

        assertThat(data.getFloat(0)).isEqualTo(2f);
        assertThat(data.isReadOnly()).isTrue();
        assertThatThrownBy(() -> dataset.array("cube").dataBuffer(Long.MAX_VALUE, 8))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void byteBuffersHaveTheByteOrderOfTheElements() {
        assertThat(dataset.array("big").byteBuffer(0, 3).getInt(4)).isEqualTo(-2);
        assertThat(dataset.array("cube").byteBuffer(1, 1).getFloat(0)).isEqualTo(12f);
    }

    @Test
    void emptyArraysHaveRowsOfNothing() {
        ArrayView empty = dataset.array("empty");

        empty.copyRows(new long[0], new UnsafeBuffer(new byte[0]), 0);

        assertThat(empty.rows()).isZero();
        assertThat(empty.byteBuffer(0, 0).remaining()).isZero();
        assertThatThrownBy(() -> empty.row(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void rowsOfNothingAreGatheredWithoutTouchingWhatLiesBehindTheFile() {
        fixture.publish("narrow", Map.of("a", FixtureArray.floats(new float[0], 50, 0)));
        try (OwnedArrayView narrow = larder.open("narrow")) {
            long[] rows = LongStream.range(0, 50).toArray();

            narrow.copyRows(rows, new UnsafeBuffer(new byte[0]), 0);
            narrow.copyRows(rows, ByteBuffer.allocate(0), 0);
            narrow.copyRows(rows, new ExpandableArrayBuffer(), 0);

            assertThat(narrow.row(49).capacity()).isZero();
            assertThatThrownBy(() -> narrow.copyRows(new long[] {50}, ByteBuffer.allocate(0), 0))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void everyAccessAfterCloseIsAnException() {
        ArrayView cube = dataset.array("cube");
        DirectBuffer row = cube.row(0);
        ByteBuffer buffer = cube.byteBuffer(0, 2);

        dataset.close();

        assertThatThrownBy(() -> cube.getFloat(0, 0, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> cube.row(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> cube.byteBuffer(0, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> cube.copyRows(new long[] {0}, new UnsafeBuffer(new byte[48]), 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(cube::address).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> row.getFloat(0)).isInstanceOf(IllegalStateException.class);
        assertThat(buffer.getInt(44)).isZero();
    }

    private static float[] floats(int count) {
        float[] values = new float[count];
        IntStream.range(0, count).forEach(i -> values[i] = i);
        return values;
    }

    private static byte[] bigEndian(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Integer.BYTES);
        bytes.asIntBuffer().put(values);
        return bytes.array();
    }

    private static byte[] littleEndian(long... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(values);
        return bytes.array();
    }
}
