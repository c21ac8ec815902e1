package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Views of windows against numpy's {@code sliding_window_view}, by arrays whose elements count up in C order. */
class ArrayWindowsTest {
    private static final int ROWS = 9;

    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    private final Dataset dataset;

    ArrayWindowsTest() {
        ByteBuffer columns = ByteBuffer.allocate(ROWS * 2 * 4).order(ByteOrder.LITTLE_ENDIAN);
        IntStream.range(0, 2 * ROWS).forEach(i -> columns.putInt(2 * (i % ROWS) + i / ROWS));
        store.publish(
                "series",
                Map.of(
                        "line", FixtureArray.ints(IntStream.range(0, ROWS).toArray(), ROWS),
                        "pairs", FixtureArray.ints(IntStream.range(0, 2 * ROWS).toArray(), ROWS, 2),
                        "columns", FixtureArray.of("<i4", Order.F, columns.array(), ROWS, 2)));
        larder = Larder.connect(store.store());
        dataset = larder.dataset("series");
    }

    @AfterEach
    void close() {
        dataset.close();
        larder.close();
        store.close();
    }

    @Test
    void everyRowBeginsAWindow() {
        ArrayView windows = dataset.array("line").windows(4);

        assertThat(windows.shape()).containsExactly(6, 4);
        assertThat(windows.rows()).isEqualTo(6);
        assertThat(windows.rowByteSize()).isEqualTo(16);
        assertThat(windows.elementCount()).isEqualTo(24);
        assertThat(windows.byteSize()).isEqualTo(ROWS * 4);
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 4; j++) {
                assertThat(windows.getInt(i, j)).isEqualTo(i + j);
                assertThat(windows.row(i).getInt(4 * j, ByteOrder.LITTLE_ENDIAN))
                        .isEqualTo(i + j);
            }
        }
        assertThat(windows.byteBuffer(5, 1).getInt(0)).isEqualTo(5);
    }

    @Test
    void windowsAreGatheredWhateverTheOrderOfTheArray() {
        for (String array : new String[] {"pairs", "columns"}) {
            ArrayView windows = dataset.array(array).windows(3);
            UnsafeBuffer direct = new UnsafeBuffer(ByteBuffer.allocateDirect(4 * 24));

            windows.copyRows(new long[] {6, 0, 3, 6}, direct, 0);

            assertThat(windows.shape()).containsExactly(7, 3, 2);
            int at = 0;
            for (int first : new int[] {6, 0, 3, 6}) {
                for (int i = 0; i < 6; i++, at += 4) {
                    assertThat(direct.getInt(at, ByteOrder.LITTLE_ENDIAN))
                            .as(array)
                            .isEqualTo(2 * first + i);
                }
            }
        }
    }

    @Test
    void theViewIsTheSameForAllAndClosedWithTheDataset() {
        ArrayView windows = dataset.array("line").windows(4);
        assertThat(dataset.array("line").windows(4)).isSameAs(windows);

        dataset.close();

        assertThat(windows.isOpen()).isFalse();
        assertThatThrownBy(() -> windows.getInt(0, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("array=line");
    }

    @Test
    void whatIsNoWindowIsRefused() {
        ArrayView line = dataset.array("line");

        assertThatThrownBy(() -> line.windows(0)).hasMessageContaining("length=0 array=line rows=9");
        assertThatThrownBy(() -> line.windows(10)).hasMessageContaining("length=10 array=line rows=9");
        assertThatThrownBy(() -> line.windows(4).byteBuffer(0, 2)).hasMessageContaining("overlap");
        assertThatThrownBy(() -> line.windows(4).copyRows(new long[] {6}, new UnsafeBuffer(new byte[16]), 0))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("array=line position=0 row=6 rows=6");
    }
}
