package dev.larder.server.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.PageSize;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.Provenance;
import dev.larder.testing.LeavesNothingBehind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Columns whose bytes take turns in a file. */
@Timeout(300)
class SegmentGroupTest {
    private static final int SEED = 20_261_125;
    private static final int MANY_ROWS = 900_000;
    private static final int[] WIDTHS = {8, 8, 4, 8, 2, 1};
    private static final int HEAD_BYTES = StoreLayout.DATA_START;

    @TempDir
    Path sources;

    private final Random random = new Random(SEED);
    private final LoadProgress progress = new LoadProgress("d");
    private Store store;
    private IncomingVersion version;

    @BeforeEach
    void open() {
        open(LeavesNothingBehind.newFolder());
    }

    private void open(Path root) {
        store = Store.open(new StoreLayout(root), OptionalLong.of(1L << 40), Optional.empty());
        version = store.newIncoming("d", Provenance.computed(0));
    }

    @AfterEach
    void remove() throws IOException {
        version.close();
        store.removeAll(List.of());
    }

    /** A table in a file or two, batch after batch, and what each column has by itself. */
    private final class Table {
        private final List<Path> files = new ArrayList<>();
        private final List<List<Extent>> regions = new ArrayList<>();
        private final List<ByteArrayOutputStream> columns = new ArrayList<>();
        private ByteArrayOutputStream written = new ByteArrayOutputStream();

        Table(int... widths) {
            for (int width : widths) {
                regions.add(new ArrayList<>());
                columns.add(new ByteArrayOutputStream(MANY_ROWS * width));
            }
        }

        /** Adds batches of so many rows, the last one of fewer, as one file more. */
        Table write(int rows, int batchRows, int... widths) throws IOException {
            Path file = sources.resolve("table" + files.size());
            written = new ByteArrayOutputStream();
            for (int first = 0; first < rows; first += batchRows) {
                addBatch(file, Math.min(batchRows, rows - first), widths);
            }
            files.add(Files.write(file, written.toByteArray()));
            return this;
        }

        private void addBatch(Path file, int rows, int... widths) {
            written.writeBytes(new byte[random.nextInt(1000)]);
            for (int i = 0; i < widths.length; i++) {
                byte[] bytes = new byte[rows * widths[i]];
                random.nextBytes(bytes);
                regions.get(i).add(new Extent(file, written.size(), bytes.length));
                columns.get(i).writeBytes(bytes);
                written.writeBytes(bytes);
                written.writeBytes(new byte[-written.size() & 63]);
            }
        }

        SourceArray array(int column) {
            return ScriptedData.regions("c" + column, regions.get(column));
        }

        List<SourceArray> arrays() {
            return IntStream.range(0, regions.size()).mapToObj(this::array).toList();
        }

        void requireStored(int column) throws IOException {
            byte[] stored = Files.readAllBytes(version.folder().resolve("c" + column + ".npy"));
            byte[] expected = columns.get(column).toByteArray();
            assertThat(ByteBuffer.wrap(stored, HEAD_BYTES, stored.length - HEAD_BYTES))
                    .as("column %d", column)
                    .isEqualTo(ByteBuffer.wrap(expected));
            CRC32C crc = new CRC32C();
            crc.update(expected);
            assertThat(sums.get("c" + column)).isEqualTo((int) crc.getValue());
        }
    }

    private final Map<String, Integer> sums = new HashMap<>();
    private LoadPlan plan = new LoadPlan(List.of());
    private List<SegmentCopy> segments = List.of();

    private List<SegmentGroup> groups(List<SourceArray> arrays, int workers) {
        plan = LoadPlan.of(arrays, ScriptedData.NOT_PACKED);
        segments = plan.segments().stream()
                .map(segment -> new SegmentCopy(version, segment, progress))
                .toList();
        return SegmentGroup.of(segments, workers);
    }

    /** Copies what a group has, its stretches from the last to the first. */
    private void copy(SegmentGroup group) {
        List<List<SegmentStretch>> all = new ArrayList<>();
        for (List<SegmentStretch> stretches = group.next(); !stretches.isEmpty(); stretches = group.next()) {
            all.add(0, stretches);
        }
        all.forEach(stretches -> ExtentReader.copy(stretches, progress));
        plan.segments().stream()
                .flatMap(segment -> segment.arrays().stream())
                .forEach(array ->
                        sums.put(array.source().name().array(), array.entry("").crc32c()));
    }

    private Table ragged() throws IOException {
        return new Table(WIDTHS)
                .write(MANY_ROWS / 3, 1000, WIDTHS)
                .write(MANY_ROWS / 3 + 123, 777, WIDTHS)
                .write(MANY_ROWS / 3, 1001, WIDTHS);
    }

    @Test
    void columnsThatAreReadTogetherAreWhatEachIsByItself() throws IOException {
        Table table = ragged();
        List<SegmentGroup> groups = groups(table.arrays(), 1);

        assertThat(groups).hasSize(1);
        copy(groups.get(0));

        for (int i = 0; i < WIDTHS.length; i++) {
            table.requireStored(i);
        }
    }

    @Test
    void soTheyAreWhereBuffersAreWrittenInTurns() throws IOException {
        remove();
        open(sources.resolve("store")); // on a disk
        columnsThatAreReadTogetherAreWhatEachIsByItself();
    }

    @Test
    void columnsThatLieTogetherNeedFewReadsAndOneLeftOutIsNotRead() throws IOException {
        int[] widths = IntStream.generate(() -> 8).limit(8).toArray();
        Table table = new Table(widths).write(300_000, 1000, widths);
        List<SourceArray> chosen = new ArrayList<>(table.arrays());
        chosen.remove(3);
        List<SegmentGroup> groups = groups(chosen, 1);
        long bytes = chosen.stream().mapToLong(SourceArray::byteSize).sum();
        long callsBefore = io("syscr");
        long readBefore = io("rchar");

        groups.forEach(this::copy);

        assertThat(groups.size()).isLessThanOrEqualTo(2);
        assertThat(io("syscr") - callsBefore).as("of %d regions", 7 * 300).isLessThan(7 * 300 / 2);
        assertThat(io("rchar") - readBefore).isBetween(bytes, bytes + bytes / 10);
        table.requireStored(2);
        table.requireStored(4);
    }

    /** Returns what this thread has read so far. */
    private static long io(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/thread-self/io")).stream()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(
                        line -> Long.parseLong(line.substring(name.length() + 1).strip()))
                .sum();
    }

    @Test
    void stretchesMeetWhereHugePagesDoAndHaveEveryByteOnce() throws IOException {
        Table table = ragged();
        SegmentGroup group = groups(table.arrays(), 1).get(0);
        long handedOut = 0;
        int most = 0;

        for (List<SegmentStretch> stretches = group.next(); !stretches.isEmpty(); stretches = group.next()) {
            for (SegmentStretch stretch : stretches) {
                assertThat(stretch.segmentPosition() == HEAD_BYTES
                                || stretch.segmentPosition() % PageSize.HUGE_BYTES == 0)
                        .isTrue();
                handedOut += stretch.segmentEnd() - stretch.segmentPosition();
            }
            most = Math.max(most, stretches.size());
        }

        assertThat(handedOut)
                .isEqualTo(
                        table.arrays().stream().mapToLong(SourceArray::byteSize).sum());
        assertThat(most).isGreaterThan(WIDTHS.length / 2);
    }

    @Test
    void manyThreadsShareATableByItsColumnsToo() throws IOException {
        Table table = ragged();

        assertThat(groups(table.arrays(), 3)).hasSize(3);
        assertThat(groups(table.arrays(), 100)).hasSize(WIDTHS.length);
    }

    @Test
    void whatDoesNotTakeTurnsIsCopiedByItself() throws IOException {
        Table wide = new Table(64, 64).write(100_000, 2000, 64, 64);
        Table other = new Table(64, 64).write(100_000, 1000, 64, 64);
        List<SourceArray> oneFewer = List.of(
                ScriptedData.regions("x", other.regions.get(0)),
                ScriptedData.regions("y", other.regions.get(1).subList(1, 100)));

        assertThat(groups(wide.arrays(), 1)).hasSize(2);
        assertThat(groups(oneFewer, 1)).hasSize(2);
    }

    @Test
    void aTableThatChangesWhileItIsCopiedIsRefused() throws IOException {
        Table table = ragged();
        SegmentGroup group = groups(table.arrays(), 1).get(0);
        ExtentReader.copy(group.next(), progress);
        Files.setLastModifiedTime(table.files.get(1), FileTime.fromMillis(1));

        assertThatThrownBy(() -> copy(group))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("table1 reason=it changed while it was read");
        segments.forEach(SegmentCopy::close);
    }

    @Test
    void aTableThatIsShorterThanItWasFoundToBeIsRefused() throws IOException {
        Table table = ragged();
        List<Extent> last = table.regions.get(5);
        Extent end = last.remove(last.size() - 1);
        last.add(new Extent(end.file(), end.offset() + end.byteSize(), end.byteSize()));
        SegmentGroup group = groups(table.arrays(), 1).get(0);

        assertThatThrownBy(() -> copy(group))
                .hasMessageContaining("cannot copy array: array=d/c5")
                .hasMessageContaining("bytes too early");
        segments.forEach(SegmentCopy::close);
    }
}
