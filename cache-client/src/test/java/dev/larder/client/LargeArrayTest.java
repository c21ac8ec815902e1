package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Arrays above 2 GiB, in files that are nearly all hole, with values around every border of the windows on the mapping. */
class LargeArrayTest {
    private static final long GIB = 1L << 30;

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

    @Test
    void floatsAreReadOnBothSidesOfEveryBorder() {
        long count = 1_600_000_000;
        ArrayView view = publish("<f4", Order.C, 4, new long[] {count});

        assertThat(view.byteSize()).isEqualTo(4 * count);
        for (long element : bordersIn(view, 4)) {
            assertThat(view.getFloat(element)).isEqualTo((float) element);
            assertThat(view.getFloat(new long[] {element})).isEqualTo((float) element);
            assertThat(view.row(element).getFloat(0)).isEqualTo((float) element);
        }
        assertThatThrownBy(() -> view.getFloat(count)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void eightByteElementsAreReadOnBothSidesOfEveryBorder() {
        ArrayView view = publish("<i8", Order.C, 8, new long[] {400_000_000});

        for (long element : bordersIn(view, 8)) {
            assertThat(view.getLong(element)).isEqualTo(element);
            assertThat(view.getDouble(element)).isEqualTo((double) element);
        }
    }

    @Test
    void columnsOfFortranArraysAreReadAboveTwoGib() {
        ArrayView view = publish("<i8", Order.F, 8, new long[] {1_000, 400_000});

        for (long element : bordersIn(view, 8)) {
            assertThat(view.getLong(element % 1_000, element / 1_000)).isEqualTo(element);
        }
    }

    @Test
    void rowsOfExactlyOneGibAreWindows() {
        Map<Long, byte[]> pieces = new HashMap<>();
        for (long row = 0; row < 3; row++) {
            pieces.put(row * GIB, new byte[] {(byte) (10 + row)});
            pieces.put((row + 1) * GIB - 1, new byte[] {(byte) (20 + row)});
        }
        ArrayView view = publish("|u1", pieces, 3, GIB);

        for (int row = 0; row < 3; row++) {
            DirectBuffer window = view.row(row);
            assertThat(window.capacity()).isEqualTo((int) GIB);
            assertThat((int) window.getByte(0)).isEqualTo(10 + row);
            assertThat((int) window.getByte((int) GIB - 1)).isEqualTo(20 + row);
            assertThat(view.getInt(row, GIB - 1)).isEqualTo(20 + row);
            ByteBuffer buffer = view.byteBuffer(row, 1);
            assertThat((int) buffer.get((int) GIB - 1)).isEqualTo(20 + row);
        }
    }

    @Test
    void rowsThatStraddleABorderAreWhole() {
        long rowBytes = 1_000_003; // so that rows lie across the borders
        Map<Long, byte[]> pieces = new HashMap<>();
        long[] rows = {GIB / rowBytes - 1, GIB / rowBytes, 2 * GIB / rowBytes, 2 * GIB / rowBytes + 1, 2_999};
        for (long row : rows) {
            pieces.put(row * rowBytes, new byte[] {1, (byte) row});
            pieces.put((row + 1) * rowBytes - 2, new byte[] {2, (byte) (row >> 8)});
        }
        ArrayView view = publish("|u1", pieces, 3_000, rowBytes);

        UnsafeBuffer gathered = new UnsafeBuffer(ByteBuffer.allocateDirect(rows.length * (int) rowBytes));
        view.copyRows(rows, gathered, 0);
        ByteBuffer alsoGathered = ByteBuffer.allocateDirect(rows.length * (int) rowBytes);
        view.copyRows(rows, alsoGathered, 0);
        for (int i = 0; i < rows.length; i++) {
            assertIsRow(rows[i], new UnsafeBuffer(gathered, i * (int) rowBytes, (int) rowBytes));
            assertIsRow(rows[i], new UnsafeBuffer(alsoGathered, i * (int) rowBytes, (int) rowBytes));
            assertIsRow(rows[i], view.row(rows[i]));
            assertIsRow(rows[i], new UnsafeBuffer(view.byteBuffer(rows[i], 1)));
        }
    }

    private static void assertIsRow(long row, DirectBuffer bytes) {
        int end = bytes.capacity();
        assertThat(new byte[] {bytes.getByte(0), bytes.getByte(1), bytes.getByte(end - 2), bytes.getByte(end - 1)})
                .containsExactly(1, (byte) row, 2, (byte) (row >> 8));
    }

    @Test
    void buffersSpanUpToTwoGibFromAnywhere() {
        long rowBytes = 1 << 20;
        ArrayView view = publish("|u1", Map.of(2 * GIB, new byte[] {5}, 3 * GIB - 1, new byte[] {6}), 4096, rowBytes);

        ByteBuffer buffer = view.byteBuffer(1025, 2047);

        assertThat(buffer.remaining()).isEqualTo(2047 << 20);
        assertThat((int) buffer.get((int) (2 * GIB - 1025 * rowBytes))).isEqualTo(5);
        assertThat((int) buffer.get((int) (3 * GIB - 1 - 1025 * rowBytes))).isEqualTo(6);
        assertThatThrownBy(() -> view.byteBuffer(0, 2048))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bytes=2147483648 limit=2147483647");
    }

    @Test
    void rowsAboveTwoGibAreReadByElementOnly() {
        long rowBytes = 2 * GIB + 4096;
        ArrayView view =
                publish("|u1", Map.of(rowBytes, new byte[] {3}, 2 * rowBytes - 1, new byte[] {4}), 2, rowBytes);

        assertThat(view.getInt(1, 0)).isEqualTo(3);
        assertThat(view.getInt(1, rowBytes - 1)).isEqualTo(4);
        assertRefusesRows(() -> view.row(1), rowBytes);
        assertRefusesRows(() -> view.copyRows(new long[] {1}, new UnsafeBuffer(new byte[8]), 0), rowBytes);
        assertRefusesRows(() -> view.copyRows(new long[] {1}, new ExpandableArrayBuffer(), 0), rowBytes);
        assertRefusesRows(() -> view.copyRows(new long[] {1}, ByteBuffer.allocate(8), 0), rowBytes);
        assertThatThrownBy(() -> view.byteBuffer(1, 1)).isInstanceOf(IllegalArgumentException.class);
    }

    private static void assertRefusesRows(ThrowingCallable call, long rowBytes) {
        assertThatThrownBy(call)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("rowByteSize=" + rowBytes);
    }

    @Test
    void aClosedViewOfManyGibIsAsSafeAsASmallOne() {
        OwnedArrayView view = publish("|u1", Map.of(5 * GIB, new byte[] {9}), 6, GIB);
        DirectBuffer window = view.row(5);
        ByteBuffer buffer = view.byteBuffer(5, 1);
        assertThat((int) window.getByte(0)).isEqualTo(9);

        view.close();

        assertThatThrownBy(() -> window.getByte(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> view.getInt(5, 0)).isInstanceOf(IllegalStateException.class);
        assertThat((int) buffer.get(0)).isZero();
    }

    /** Returns the elements just before, across and after each GiB of the file, and the first and the last. */
    private static long[] bordersIn(ArrayView view, int itemSize) {
        long count = view.elementCount();
        long borders = view.byteSize() / GIB;
        long[] elements = new long[(int) borders * 4 + 2];
        int at = 0;
        for (long border = 1; border <= borders; border++) {
            long behindHeader = (border * GIB - StoreLayout.DATA_START) / itemSize;
            elements[at++] = behindHeader - 1;
            elements[at++] = behindHeader;
            elements[at++] = border * GIB / itemSize - 1;
            elements[at++] = Math.min(count - 1, border * GIB / itemSize);
        }
        elements[at] = count - 1;
        return elements;
    }

    /** Publishes numbers around the borders that equal their place in memory. */
    private OwnedArrayView publish(String dtype, Order order, int itemSize, long[] shape) {
        NpyHeader header = NpyHeader.of(Dtype.parse(dtype), order, shape);
        Map<Long, byte[]> pieces = new HashMap<>();
        fixture.publishSparse("probe", "a", header, Map.of());
        try (OwnedArrayView probe = larder.open("probe")) {
            for (long element : bordersIn(probe, itemSize)) {
                pieces.put(element * itemSize, bytes(dtype, element));
            }
        }
        fixture.publishSparse("d", "a", header, pieces);
        return larder.open("d");
    }

    private static byte[] bytes(String dtype, long value) {
        ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        return dtype.equals("<f4")
                ? ByteBuffer.allocate(4)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putFloat((float) value)
                        .array()
                : bytes.putLong(value).array();
    }

    private OwnedArrayView publish(String dtype, Map<Long, byte[]> pieces, long... shape) {
        fixture.publishSparse("d", "a", NpyHeader.of(Dtype.parse(dtype), Order.C, shape), pieces);
        return larder.open("d");
    }
}
