package dev.larder.server.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.ingest.LoadPlan.Segment;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LoadPlanTest {
    private static final long MIB = 1 << 20;
    private static final PackRule USUAL = PackRule.of(LoadOptions.none(), "never");

    @ParameterizedTest
    @CsvSource({
        "never, -1, 64, 1000, 0",
        "never, -1, 65, 1000, 1",
        "advise, -1, 65, 1048575, 17",
        "never, -1, 65, 1048576, 0",
        "always, -1, 1, 1000, 0",
        "always, -1, 2, 1000, 1",
        "always, -1, 2, 8388608, 0",
        "never, 0, 100, 1000, 0",
        "always, 0, 100, 1000, 0",
        "never, 2000, 2, 1999, 1",
        "never, 2000, 2, 2000, 0",
    })
    void smallArraysArePackedWhereThereAreMany(String huge, long below, int arrays, long bytes, long packs) {
        PackRule rule = PackRule.of(LoadOptions.none().withPackBelowBytes(below), huge);

        LoadPlan plan = LoadPlan.of(bytes(arrays, bytes), rule);

        assertThat(plan.segments()).filteredOn(LoadPlanTest::isPack).hasSize((int) packs);
        assertThat(plan.segments()).hasSize(packs == 0 ? arrays : (int) packs);
    }

    @ParameterizedTest
    @ValueSource(longs = {5L << 60, Long.MAX_VALUE - 1})
    void sizesThatOverflowTogetherAreNeverTakenForSmallOnes(long bytes) {
        assertThatThrownBy(() -> LoadPlan.of(bytes(2, bytes), USUAL).storedBytes())
                .hasMessageContaining("not enough space: needed=more than 2^63 bytes");
    }

    @Test
    void largeArraysKeepFilesOfTheirOwnBesidePacks() {
        List<SourceArray> arrays = new ArrayList<>(bytes(100, 1000));
        arrays.add(array("large", "|u1", 5 * MIB));

        LoadPlan plan = LoadPlan.of(arrays, USUAL);

        assertThat(plan.segments()).extracting(Segment::file).containsExactly("large.npy", "pack-0000");
        assertThat(plan.segments().get(0).arrays().get(0).dataOffset()).isEqualTo(StoreLayout.DATA_START);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void everyArrayInAPackIsAWholeNpyImageInTheOrderOfNames(long seed) {
        List<SourceArray> arrays = mixed(new Random(seed));

        LoadPlan plan = LoadPlan.of(arrays, new PackRule(MIB, 1, 40_000));

        List<String> names = new ArrayList<>();
        List<Segment> packs = plan.segments().stream()
                .sorted((a, b) -> a.file().compareTo(b.file()))
                .toList();
        for (Segment pack : packs) {
            long end = 0;
            for (SegmentArray array : pack.arrays()) {
                requireImage(array, end, seed);
                end = array.dataOffset() + array.source().byteSize();
                names.add(array.source().name().array());
            }
            assertThat(pack.byteSize()).as("seed %d", seed).isEqualTo(end);
        }
        assertThat(names).as("seed %d", seed).isSorted().hasSize(arrays.size());
    }

    private static void requireImage(SegmentArray array, long previousEnd, long seed) {
        NpyHeader wanted = array.source().header();
        ByteBuffer head = array.head();
        assertThat(array.headOffset()).as("seed %d", seed).isBetween(previousEnd, previousEnd + 63);
        assertThat(array.headOffset() % 64).isZero();
        assertThat(array.dataOffset() % 64).isZero();
        assertThat(array.headOffset() + head.remaining()).isEqualTo(array.dataOffset());
        byte[] bytes = new byte[head.remaining()];
        head.get(bytes);
        ReadableByteChannel image = Channels.newChannel(new ByteArrayInputStream(bytes));
        NpyHeader read = NpyHeader.read(image, "image");
        assertThat(read.dtype()).isEqualTo(wanted.dtype());
        assertThat(read.shape()).isEqualTo(wanted.shape());
        assertThat(read.order()).isEqualTo(wanted.order());
    }

    @ParameterizedTest
    @CsvSource({"100000, 20000", "100000, 1000000", "9078, 500", "300000, 100"})
    void aHundredThousandArraysNeedAFewDozenFiles(int arrays, long bytes) {
        LoadPlan plan = LoadPlan.of(bytes(arrays, bytes), USUAL);

        assertThat(plan.segments()).hasSizeLessThan(48);
        assertThat(plan.segments().stream().mapToLong(Segment::byteSize).sum())
                .isLessThan((long) arrays * (bytes + 128 + 64));
    }

    @ParameterizedTest
    @CsvSource({
        "never, 0, 4",
        "never, 64, 4",
        "never, 128, 8",
        "never, 32768, 1024",
        "never, 102400, 2560",
        "always, 128, 64",
        "always, 2048, 128",
    })
    void packsAreLongEnoughToBeFewAndShortEnoughForSeveralThreads(String huge, long allMib, long packMib) {
        PackRule rule = PackRule.of(LoadOptions.none(), huge);

        assertThat(rule.packBytes(allMib * MIB)).isEqualTo(packMib * MIB);
    }

    @Test
    void aPackIsFullBeforeTheNextOneBegins() {
        int image = 128 + 640; // a header, and data that ends at a multiple of 64
        PackRule rule = new PackRule(MIB, 1, 4 * image);

        LoadPlan plan = LoadPlan.of(bytes(10, 640), rule);

        assertThat(plan.segments()).extracting(Segment::byteSize).containsExactly(4L * image, 4L * image, 2L * image);
        assertThat(plan.segments()).extracting(Segment::file).containsExactly("pack-0000", "pack-0001", "pack-0002");
    }

    @Test
    void aPlanCanGrowByOtherArrays() {
        LoadPlan plan = LoadPlan.of(bytes(2, MIB), USUAL);

        LoadPlan larger = plan.with(List.of(array("b", "|u1", 2 * MIB)), USUAL);

        assertThat(plan.with(List.of(), USUAL)).isSameAs(plan);
        assertThat(larger.segments()).extracting(Segment::file).containsExactly("b.npy", "array0.npy", "array1.npy");
        assertThat(larger.storedBytes()).isEqualTo(4 * MIB + 3 * 8192);
    }

    private static boolean isPack(Segment segment) {
        return segment.file().startsWith("pack-");
    }

    private static List<SourceArray> mixed(Random random) {
        List<String> dtypes = List.of(
                "|u1", "<f8", "[('a', '<f4'), ('b', '<i2', (3,))]", "[" + wideFields(random.nextInt(1, 200)) + "]");
        return IntStream.range(0, 300)
                .mapToObj(i -> array(
                        "n" + random.nextInt() + "/" + i,
                        dtypes.get(random.nextInt(dtypes.size())),
                        random.nextInt(50)))
                .collect(Collectors.toList());
    }

    private static String wideFields(int fields) {
        return IntStream.range(0, fields)
                .mapToObj(i -> "('field" + i + "', '|u1')")
                .collect(Collectors.joining(", "));
    }

    private static List<SourceArray> bytes(int arrays, long bytes) {
        NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, bytes);
        return IntStream.range(0, arrays)
                .mapToObj(i -> array("array" + i, header))
                .toList();
    }

    private static SourceArray array(String name, String dtype, long length) {
        return array(name, NpyHeader.of(Dtype.parse(dtype), Order.C, length));
    }

    private static SourceArray array(String name, NpyHeader header) {
        Path file = Path.of("/nowhere", name + ".npy");
        ArrayData data = Extents.of(new Extent(file, 128, header.byteSize()));
        SourceIdentity identity = new SourceIdentity(file, 128 + header.byteSize(), 0, 0, 0);
        return new SourceArray(new ArrayName("set", name), header, data, List.of(identity), ColumnPart.NONE);
    }
}
