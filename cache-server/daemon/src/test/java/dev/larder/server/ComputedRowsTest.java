package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.client.ComputedRows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.RowsDescriptor;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.internal.rows.RowsRegion;
import dev.larder.rows.RowsSpec;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows that are computed once, by processes that die, stop and begin together, over daemons that do so too. */
class ComputedRowsTest {
    private static final int ROWS = 64;
    private static final int ROW_BYTES = RowsProgram.ROW_INTS * Integer.BYTES;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private final ServedStore served = ServedStore.create();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private Path begun;

    @BeforeEach
    void prepare() throws IOException {
        begun = Files.createFile(folder.resolve("begun"));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
        served.close();
    }

    private void load(int first) {
        int[] numbers = IntStream.range(first, first + ROWS).toArray();
        served.load(
                "numbers",
                ServedStore.writeInts(folder.resolve("source" + first).resolve("numbers.npy"), numbers));
    }

    /** Opens the dataset as another process would: nothing is shared with what is open already. */
    private Dataset open() {
        Larder larder = Larder.connect(served.root());
        opened.add(larder);
        return larder.dataset("numbers");
    }

    private static int[] row(ComputedRows rows, ComputedRows.Reader reader, long row) {
        UnsafeBuffer target = new UnsafeBuffer(new byte[(int) rows.rowByteSize()]);
        reader.copyRows(new long[] {row}, target, 0);
        return IntStream.range(0, RowsProgram.ROW_INTS)
                .map(i -> target.getInt(i * Integer.BYTES))
                .toArray();
    }

    private static int[] expected(long number) {
        return IntStream.range(0, RowsProgram.ROW_INTS)
                .map(i -> (int) number * 31 + i)
                .toArray();
    }

    private RegionRow region() {
        return served.control().regions("").get(0);
    }

    @Test
    void whatOneHasComputedAllOthersRead() {
        served.start();
        load(0);
        Dataset first = open();
        Dataset second = open();
        ComputedRows made = first.rows(RowsProgram.spec());
        ComputedRows read = second.rows(RowsProgram.spec());

        RowsProgram.read(made, made.reader(RowsProgram.function(first)), 1);
        RowsProgram.read(
                read,
                read.reader((row, result) -> {
                    throw new AssertionError("row " + row + " is computed again");
                }),
                2);

        assertThat(made.computed()).isEqualTo(ROWS);
        assertThat(read.computed()).isZero();
        assertThat(read.published()).isEqualTo(ROWS);
        assertThat(first.rows(RowsProgram.spec())).isSameAs(made);
        assertThat(made.shape()).containsExactly(ROWS, RowsProgram.ROW_INTS);
        first.close();
        assertThatThrownBy(made::published).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void theyStayWhenNobodyHasThemAndForTheNextDaemon() {
        ChildJvm killed = served.startProcess();
        load(0);
        try (Dataset dataset = open()) {
            ComputedRows rows = dataset.rows(RowsProgram.spec());
            RowsProgram.read(rows, rows.reader(RowsProgram.function(dataset)), 1);
            killed.kill();
            row(rows, rows.reader(RowsProgram.function(dataset)), 3); // nobody asks the daemon
        }

        served.start();
        Dataset dataset = open();
        ComputedRows rows = dataset.rows(RowsProgram.spec());

        assertThat(rows.published()).isEqualTo(ROWS);
        assertThat(served.control().status().usedBytes())
                .isGreaterThan(RegionDescriptor.DATA_OFFSET + (long) ROWS * ROW_BYTES);
    }

    @Test
    void aFunctionThatFailsLeavesItsRowToTheNext() {
        served.start();
        load(0);
        Dataset dataset = open();
        ComputedRows rows = dataset.rows(RowsProgram.spec());
        ComputedRows.Reader failing = rows.reader((row, result) -> {
            result.putInt(-1);
            throw new UnsupportedOperationException("no");
        });

        assertThatThrownBy(() -> row(rows, failing, 5))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("the function of computed rows failed: rows=made row=5 error=")
                .hasCauseInstanceOf(UnsupportedOperationException.class);

        assertThat(rows.published()).isZero();
        assertThat(row(rows, rows.reader(RowsProgram.function(dataset)), 5)).isEqualTo(expected(5));
    }

    @Test
    void aRowThatIsNotWrittenToItsEndIsRefused() {
        served.start();
        load(0);
        Dataset dataset = open();
        ComputedRows rows = dataset.rows(RowsProgram.spec());
        ComputedRows.Reader half = rows.reader((row, result) -> result.putInt(7));
        ComputedRows.Reader shortened =
                rows.reader((row, result) -> result.limit(8).position(8));
        ComputedRows.Reader byIndex = rows.reader((row, result) -> result.putInt(4, 9));

        assertRefused(
                () -> row(rows, half, 5),
                ErrorCode.UNEXPECTED,
                "wrote only part of a row: rows=made row=5 written=4 bytes=1200");
        assertRefused(() -> row(rows, shortened, 5), ErrorCode.UNEXPECTED, "written=8 bytes=1200");
        assertThat(rows.published()).isZero();
        assertThat(row(rows, byIndex, 5)).startsWith(0, 9, 0);
    }

    @Test
    void rowsOfAnotherVersionOfTheDataAndOfTheCodeAreOthers() {
        served.start();
        load(0);
        Dataset old = open();
        ComputedRows oldRows = old.rows(RowsProgram.spec());
        row(oldRows, oldRows.reader(RowsProgram.function(old)), 0);
        load(100);
        Dataset current = open();

        ComputedRows rows = current.rows(RowsProgram.spec());
        ComputedRows otherCode = current.rows(RowsProgram.spec().version("2"));

        served.load("copy", folder.resolve("source100").resolve("numbers.npy")); // the same array
        Larder larder = Larder.connect(served.root());
        opened.add(larder);
        ComputedRows ofCopy = larder.dataset("copy").rows(RowsProgram.spec());

        assertThat(row(rows, rows.reader(RowsProgram.function(current)), 0)).isEqualTo(expected(100));
        assertThat(ofCopy.published()).isOne();
        assertThat(row(oldRows, oldRows.reader(RowsProgram.function(old)), 0)).isEqualTo(expected(0));
        assertThat(otherCode.published()).isZero();
        assertThat(served.control().regions(""))
                .hasSize(3)
                .allSatisfy(region -> assertThat(region.name()).matches("made\\.[0-9a-f]{16}"));
    }

    @Test
    void whatCannotBeKeptIsRefused() {
        served.start();
        load(0);
        Dataset dataset = open();
        RowsSpec nameless = RowsSpec.of("made", "numbers");

        assertRefused(() -> dataset.rows(nameless), ErrorCode.USAGE, "computed rows have no version of their code");
        assertRefused(() -> dataset.rows(nameless.version("a\nb")), ErrorCode.USAGE, "control character");
        assertRefused(
                () -> dataset.rows(nameless.version("1").row("|u1", 1L << 40)), ErrorCode.BAD_INPUT, "row is too long");
        assertRefused(
                () -> dataset.rows(RowsSpec.of("made", "absent").version("1")), ErrorCode.NOT_FOUND, "no such array");
    }

    private static void assertRefused(Runnable call, ErrorCode code, String message) {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(LarderException.class, e -> {
            assertThat(e.code()).isEqualTo(code);
            assertThat(e).hasMessageContaining(message);
        });
    }

    @Test
    void aDamagedRowIsComputedByEachProcessForItself() throws IOException {
        served.start();
        load(0);
        try (Dataset dataset = open()) {
            ComputedRows rows = dataset.rows(RowsProgram.spec());
            RowsProgram.read(rows, rows.reader(RowsProgram.function(dataset)), 1);
        }
        spoil(region(), 7);
        Dataset dataset = open();
        ComputedRows rows = dataset.rows(RowsProgram.spec());

        RowsProgram.read(rows, rows.reader(RowsProgram.function(dataset)), 1);
        RowsProgram.read(rows, rows.reader(RowsProgram.function(dataset)), 2);

        assertThat(rows.computedAlone()).isEqualTo(2);
        assertThat(rows.damaged()).isEqualTo(2);
        assertThat(rows.computed()).isZero();
    }

    /** Changes a byte of a row behind everybody's back. */
    private void spoil(RegionRow region, long row) {
        Path file = region.file();
        long offset;
        try (RowsRegion rows = Objects.requireNonNull(RowsRegion.tryOpen(served.root(), file))) {
            offset = RegionDescriptor.DATA_OFFSET + rows.header().dataStart() + row * ROW_BYTES + 5;
        }
        int descriptor = Posix.system().openForWriting(file);
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        BulkIo.system().read(descriptor, offset, one, 0, 1);
        one.put(0, (byte) ~one.get(0));
        BulkIo.system().write(descriptor, offset, one, 0, 1);
        Posix.system().close(descriptor);
    }

    /** Writes a number of the header, and returns what was there. */
    private static long exchange(Path file, int place, long value) {
        int descriptor = Posix.system().openForWriting(file);
        ByteBuffer number = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        BulkIo.system().read(descriptor, RegionDescriptor.DATA_OFFSET + place, number, 0, Long.BYTES);
        long old = number.getLong(0);
        number.putLong(0, value);
        BulkIo.system().write(descriptor, RegionDescriptor.DATA_OFFSET + place, number, 0, Long.BYTES);
        Posix.system().close(descriptor);
        return old;
    }

    @Test
    void aHeaderWithNumbersThatDoNotFitIsRefused() {
        served.start();
        load(0);
        open().rows(RowsProgram.spec());
        Path file = region().file();

        assertRefused(file, RowsDescriptor.STATES_START_OFFSET, Long.MAX_VALUE - 7); // a sum would wrap around
        assertRefused(file, RowsDescriptor.STATES_START_OFFSET, 1L << 40);
        assertRefused(file, RowsDescriptor.DATA_START_OFFSET, 64);
        assertRefused(file, RowsDescriptor.ROW_BYTES_OFFSET, ROW_BYTES - 1);
        assertRefused(file, RowsDescriptor.ROW_BYTES_OFFSET, 1L << 32);
        assertRefused(file, RowsDescriptor.ROWS_OFFSET, 1L << 60);
        exchange(file, RowsDescriptor.ROWS_OFFSET, 0); // then rows of any length fit
        assertRefused(file, RowsDescriptor.ROW_BYTES_OFFSET, (1L << 32) + ROW_BYTES);
        assertRefused(() -> open().rows(RowsProgram.spec()), ErrorCode.BAD_INPUT, "its rows have another key");
    }

    private void assertRefused(Path file, int place, long value) {
        long old = exchange(file, place, value);
        assertRefused(
                () -> Objects.requireNonNull(RowsRegion.tryOpen(served.root(), file)),
                ErrorCode.BAD_INPUT,
                "its header is damaged");
        exchange(file, place, old);
    }

    @Test
    void rowsThatDoNotFitAreRefusedWithNothingLeft() {
        served.start(OptionalLong.of(1 << 20));
        load(0);
        Dataset dataset = open();
        RowsSpec large = RowsSpec.of("made", "numbers").row("|u1", 1 << 20).version("1");

        assertRefused(() -> dataset.rows(large), ErrorCode.NO_SPACE, "not enough space: needed=");

        assertThat(ServedStore.entries(served.layout().regions())).containsExactly(RegionDescriptor.LOCKS_FILE);
        assertThat(dataset.rows(RowsProgram.spec()).rows()).isEqualTo(ROWS);
    }

    @Test
    void aRegionThatADaemonIsStillMakingIsWaitedFor() throws Exception {
        served.start();
        load(0);
        Dataset dataset = open();
        String name;
        try (Dataset other = open()) {
            other.rows(RowsProgram.spec());
            name = region().name();
        }
        served.control().removeRegion(name, 0);
        Path unready = served.layout().regions().resolve(RegionDescriptor.fileName(name, 0x4000));
        Files.write(unready, new byte[1 << 20]); // reserved, and not said to be so yet

        CompletableFuture<ComputedRows> rows = CompletableFuture.supplyAsync(() -> dataset.rows(RowsProgram.spec()));

        assertThatThrownBy(() -> rows.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        Files.delete(unready); // as the next daemon does, where this one dies
        assertThat(rows.get().rows()).isEqualTo(ROWS);
    }

    @Test
    void theyLeaveWhereTheirRoomIsNeededAndNobodyHasThem() {
        served.start(OptionalLong.of(1 << 20));
        load(0);
        RowsSpec half = RowsSpec.of("made", "numbers").row("|u1", 9 << 10).version("1");
        Path source = ServedStore.writeBytes(folder.resolve("large").resolve("bytes.npy"), 600 << 10);
        Dataset dataset = open();
        ComputedRows rows = dataset.rows(half);

        assertRefused(() -> served.load("large", source), ErrorCode.NO_SPACE, "leased=");
        assertThat(rows.published()).isZero(); // and can be read
        dataset.close();
        served.load("large", source);

        assertThat(served.control().regions("")).isEmpty();
        assertThat(ServedStore.entries(served.layout().regions())).containsExactly(RegionDescriptor.LOCKS_FILE);
    }

    @Test
    void rowsThatAProcessHasOpenAreNotRemoved() {
        served.start();
        load(0);
        AtomicBoolean removed = new AtomicBoolean();
        Path file;
        try (Dataset dataset = open()) {
            dataset.rows(RowsProgram.spec());
            file = region().file();

            assertThat(RowsRegion.removeUnused(served.root(), file, () -> removed.set(true)))
                    .isFalse();
        }

        assertThat(removed).isFalse();
        assertThat(RowsRegion.removeUnused(served.root(), file, () -> removed.set(true)))
                .isTrue();
        assertThat(removed).isTrue();
    }

    @Test
    void whoWaitsInVainComputesForItselfAndPublishesNothing() throws Exception {
        served.start();
        load(0);
        Dataset slow = open();
        Dataset waiting = open();
        ComputedRows slowRows = slow.rows(RowsProgram.spec());
        ComputedRows rows = waiting.rows(RowsProgram.spec().patience(Duration.ofMillis(50)));
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        CompletableFuture<int[]> slowRow = CompletableFuture.supplyAsync(() -> row(
                slowRows,
                slowRows.reader((row, result) -> {
                    claimed.countDown();
                    awaitLatch(mayEnd);
                    RowsProgram.fill(slow, row, result, 0);
                }),
                9));
        claimed.await();

        int[] own = row(rows, rows.reader(RowsProgram.function(waiting)), 9);
        long startNs = System.nanoTime();
        row(rows, rows.reader(RowsProgram.function(waiting)), 9);
        long againNs = System.nanoTime() - startNs;

        assertThat(own).isEqualTo(expected(9));
        assertThat(againNs).isLessThan(Duration.ofMillis(50).toNanos()); // nobody waits twice
        assertThat(rows.published()).isZero();
        mayEnd.countDown();
        assertThat(slowRow.get()).isEqualTo(expected(9));
        assertThat(rows.published()).isEqualTo(1);
        assertThat(row(rows, rows.reader(RowsProgram.function(waiting)), 9)).isEqualTo(expected(9));
        assertThat(rows.computedAlone()).isEqualTo(2);
        assertThat(slowRows.computed()).isEqualTo(1);
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private ChildJvm startReader(long seed, long micros, long patienceMs) {
        ChildJvm child = ChildJvm.start(
                RowsProgram.class,
                served.root().toString(),
                begun.toString(),
                Long.toString(seed),
                Long.toString(micros),
                Long.toString(patienceMs));
        opened.add(child);
        return child;
    }

    /** Counts how often each row was begun. */
    private Map<Long, Long> timesBegun() throws IOException {
        return Files.readAllLines(begun).stream()
                .map(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
                .collect(Collectors.groupingBy(row -> row, Collectors.counting()));
    }

    @Test
    void eightProcessesThatBeginTogetherComputeEachRowOnce() throws IOException {
        served.start();
        load(0);

        List<ChildJvm> readers = IntStream.range(0, 8)
                .mapToObj(i -> startReader(i % 2, 2_000, PATIENCE.toMillis())) // some in the same order
                .toList();

        long computed = 0;
        for (ChildJvm reader : readers) {
            String[] done = reader.awaitLine(RowsProgram.DONE).split(" ", -1);
            computed += Long.parseLong(done[1]);
            assertThat(done[2]).isEqualTo("0");
            assertThat(reader.awaitExit()).isZero();
        }
        assertThat(computed).isEqualTo(ROWS);
        assertThat(timesBegun())
                .hasSize(ROWS)
                .allSatisfy((row, times) -> assertThat(times).isOne());
    }

    @Test
    void aStoppedProcessHoldsTheOthersUpForTheirPatienceOnly() throws Exception {
        served.start();
        load(0);
        ChildJvm stopped = startReader(1, 200_000, PATIENCE.toMillis());
        await().atMost(PATIENCE).until(() -> Files.size(begun) > 0);
        signal("-STOP", stopped);
        Dataset dataset = open();
        ComputedRows rows = dataset.rows(RowsProgram.spec().patience(Duration.ofMillis(200)));

        RowsProgram.read(rows, rows.reader(RowsProgram.function(dataset)), 1);

        assertThat(rows.computedAlone()).isBetween(0L, 1L); // none where it was stopped between two rows
        assertThat(rows.published()).isEqualTo(ROWS - rows.computedAlone());
        signal("-CONT", stopped);
        assertThat(stopped.awaitExit()).isZero();
        assertThat(rows.published()).isEqualTo(ROWS);
        RowsProgram.read(rows, rows.reader(RowsProgram.function(dataset)), 2);
    }

    private static void signal(String signal, ChildJvm child) throws Exception {
        new ProcessBuilder("kill", signal, Long.toString(child.pid())).start().waitFor();
    }

    @Test
    void killedProcessesLeaveNoWrongRowAndNoneThatNobodyCanCompute() throws Exception {
        served.start();
        load(0);
        Rounds rounds = Rounds.of("killed readers of computed rows", 2);
        for (int round = 0; round < rounds.count(); round++) {
            List<ChildJvm> readers = List.of(startReader(round, 1_000, 100), startReader(round + 1, 1_000, 100));
            readers.get(0).awaitLine(RowsProgram.OPEN);
            for (ChildJvm reader : readers) {
                LockSupport.parkNanos(rounds.momentNs(30));
                reader.kill();
            }
            try (Dataset dataset = open()) {
                ComputedRows rows = dataset.rows(RowsProgram.spec());
                try (RowsRegion region = Objects.requireNonNull(RowsRegion.tryOpen(served.root(), region().file()))) {
                    assertIntact(region);
                }
                RowsProgram.read(rows, rows.reader(RowsProgram.function(dataset)), round);
                assertThat(rows.published()).isEqualTo(ROWS);
                assertThat(rows.computedAlone() + rows.damaged()).isZero();
            }
            served.control().removeRegion(region().name(), 0);
        }
    }

    private static void assertIntact(RowsRegion region) {
        byte[] bytes = new byte[ROW_BYTES];
        CRC32 crc = new CRC32();
        for (long row = 0; row < ROWS; row++) {
            long state = region.stateAcquire(row);
            assertThat(state == RowsDescriptor.EMPTY || region.copyIntact(row, state, bytes, crc))
                    .isTrue();
        }
    }
}
