package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that read while another closes: each reads the truth or an {@link IllegalStateException}, and the JVM lives. */
@Tag("races")
class CloseRaceTest {
    private static final int SEED = 20_260_101;
    private static final int ROUNDS = 300;
    private static final int ROWS = 64;
    private static final int ROW = 256;
    private static final int BIG_ROW_BYTES = 4 << 20;

    private StoreFixture fixture;
    private ExecutorService threads;

    @BeforeEach
    void publish() {
        fixture = StoreFixture.create();
        float[] values = new float[ROWS * ROW];
        for (int i = 0; i < values.length; i++) {
            values[i] = i + 1;
        }
        byte[] big = new byte[4 * BIG_ROW_BYTES];
        for (int i = 0; i < big.length; i++) {
            big[i] = (byte) (i % 127 + 1);
        }
        fixture.publish(
                "d",
                Map.of("a", FixtureArray.floats(values, ROWS, ROW), "big", FixtureArray.bytes(big, 4, BIG_ROW_BYTES)));
        threads = Executors.newCachedThreadPool();
    }

    @AfterEach
    void close() throws InterruptedException {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        fixture.close();
    }

    @Test
    void elementsAreTrueUntilTheViewIsClosed() throws Exception {
        race((view, random) -> {
            int row = random.nextInt(ROWS);
            int column = random.nextInt(ROW);
            assertThat(view.getFloat(row, column)).isEqualTo(value(row, column));
            assertThat(view.getDouble(row, column)).isEqualTo(value(row, column));
        });
    }

    @Test
    void windowsAreTrueUntilTheViewIsClosed() throws Exception {
        race((view, random) -> {
            int row = random.nextInt(ROWS);
            DirectBuffer window = view.row(row);
            byte[] copy = new byte[Float.BYTES];
            for (int column = 0; column < ROW; column += 31) {
                assertThat(window.getFloat(column * Float.BYTES)).isEqualTo(value(row, column));
                window.getBytes(column * Float.BYTES, copy);
                assertThat(new UnsafeBuffer(copy).getFloat(0)).isEqualTo(value(row, column));
            }
        });
    }

    @Test
    void gathersAreTrueUntilTheViewIsClosed() throws Exception {
        race((view, random) -> {
            long[] rows = random.longs(16, 0, ROWS).toArray();
            UnsafeBuffer target = new UnsafeBuffer(ByteBuffer.allocateDirect(rows.length * ROW * Float.BYTES));
            view.copyRows(rows, target, 0);
            for (int i = 0; i < rows.length; i++) {
                assertThat(target.getFloat(i * ROW * Float.BYTES)).isEqualTo(value((int) rows[i], 0));
                assertThat(target.getFloat((i + 1) * ROW * Float.BYTES - 4)).isEqualTo(value((int) rows[i], ROW - 1));
            }
        });
    }

    @Test
    void buffersAreTrueOrZeros() throws Exception {
        race((view, random) -> {
            int row = random.nextInt(ROWS);
            ByteBuffer buffer = view.byteBuffer(row, 1);
            for (int column = 0; column < ROW; column++) {
                assertThat(buffer.getFloat(column * Float.BYTES)).isIn(value(row, column), 0f);
            }
        });
    }

    @Test
    void aGatherOfBigRowsEndsTrueOrFailsWhenItIsClosedHalfWay() throws Exception {
        UnsafeBuffer target = new UnsafeBuffer(ByteBuffer.allocateDirect(4 * BIG_ROW_BYTES));
        for (int round = 0; round < 40; round++) {
            long delayNs = round * 100_000L;
            try (Larder larder = Larder.connect(fixture.store());
                    OwnedArrayView view = larder.open("d/big")) {
                Future<?> closing = threads.submit(() -> closeAfter(delayNs, view));
                if (copies(view, target)) {
                    assertHoldsBigRows(target);
                }
                closing.get(60, TimeUnit.SECONDS);
            }
        }
    }

    private static boolean copies(ArrayView view, UnsafeBuffer target) {
        try {
            view.copyRows(new long[] {3, 2, 1, 0}, target, 0);
            return true;
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    private static void assertHoldsBigRows(UnsafeBuffer target) {
        for (int i = 0; i < 4 * BIG_ROW_BYTES; i += 4093) {
            int position = (3 - i / BIG_ROW_BYTES) * BIG_ROW_BYTES + i % BIG_ROW_BYTES;
            assertThat((int) target.getByte(i)).isEqualTo(position % 127 + 1);
        }
    }

    @Test
    void closingFromManyThreadsClosesOnce() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Larder larder = Larder.connect(fixture.store());
            Dataset dataset = larder.dataset("d");
            ArrayView view = dataset.array("a");
            OwnedArrayView alone = larder.open("d/a");
            runTogether(
                    List.of(alone::close, dataset::close, larder::close, alone::close, dataset::close, larder::close));

            assertThat(view.isOpen()).isFalse();
            assertThat(alone.isOpen()).isFalse();
        }
    }

    @Test
    void datasetsThatAreOpenedWhileTheLarderClosesAreClosedToo() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Larder larder = Larder.connect(fixture.store());
            List<Dataset> opened = new ArrayList<>();
            runTogether(List.of(larder::close, () -> {
                try {
                    opened.add(larder.dataset("d"));
                } catch (IllegalStateException closed) {
                    return;
                }
            }));

            assertThat(opened)
                    .allSatisfy(dataset -> assertThat(isClosed(dataset)).isTrue());
        }
    }

    @Test
    void viewsThatAreOpenedWhileOthersCloseTheirsAreTrue() throws Exception {
        try (Larder larder = Larder.connect(fixture.store())) {
            Callable<Void> openAndClose = () -> {
                for (int i = 0; i < 2_000; i++) {
                    try (OwnedArrayView view = larder.open("d/a")) {
                        assertThat(view.getFloat(1, 2)).isEqualTo(value(1, 2));
                    }
                }
                return null;
            };
            for (Future<Void> future : threads.invokeAll(List.of(openAndClose, openAndClose, openAndClose))) {
                future.get();
            }
        }
    }

    private static boolean isClosed(Dataset dataset) {
        try {
            dataset.array("a");
            return false;
        } catch (IllegalStateException closed) {
            return true;
        }
    }

    private static float value(int row, int column) {
        return row * ROW + column + 1f;
    }

    private interface Reading {
        void run(ArrayView view, Random random);
    }

    /** Reads on two threads until a third has closed the view, its dataset or the larder, many times over. */
    private void race(Reading reading) throws Exception {
        Random random = new Random(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            Larder larder = Larder.connect(fixture.store());
            OwnedArrayView alone = larder.open("d/a");
            Dataset dataset = larder.dataset("d");
            ArrayView view = round % 3 == 0 ? alone : dataset.array("a");
            List<AutoCloseable> closeables = List.of(alone, dataset, larder);
            AutoCloseable first = closeables.get(round % 3);
            long delayNs = random.nextInt(300_000);
            int seed = random.nextInt();
            try (larder) {
                runTogether(List.of(
                        () -> readUntilClosed(view, reading, new Random(seed)),
                        () -> readUntilClosed(view, reading, new Random(~seed)),
                        () -> closeAfter(delayNs, first)));
            } catch (Throwable e) {
                throw new AssertionError("seed=" + SEED + " round=" + round, e);
            }
        }
    }

    private static void readUntilClosed(ArrayView view, Reading reading, Random random) {
        try {
            while (true) {
                reading.run(view, random);
            }
        } catch (IllegalStateException closed) {
            assertThat(view.isOpen()).isFalse();
        }
    }

    private static void closeAfter(long delayNs, AutoCloseable closeable) {
        LockSupport.parkNanos(delayNs); // to close it at any moment of a read
        try {
            closeable.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void runTogether(List<Runnable> actions) throws Exception {
        CyclicBarrier start = new CyclicBarrier(actions.size());
        List<Future<?>> futures = new ArrayList<>();
        for (Runnable action : actions) {
            futures.add(threads.submit(() -> {
                start.await(60, TimeUnit.SECONDS);
                action.run();
                return null;
            }));
        }
        for (Future<?> future : futures) {
            future.get(30, TimeUnit.SECONDS);
        }
    }
}
