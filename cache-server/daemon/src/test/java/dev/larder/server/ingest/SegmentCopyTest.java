package dev.larder.server.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.residency.PublishedStore;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.version.Provenance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentCopyTest {
    private static final long MIB = 1 << 20;

    @TempDir
    Path sources;

    private final PublishedStore made = PublishedStore.withRoomFor(1);
    private final IncomingVersion version = made.store().newIncoming("d", Provenance.computed(0));
    private Path file;

    @BeforeEach
    void create() throws IOException {
        file = Files.write(sources.resolve("file"), new byte[1]);
    }

    @AfterEach
    void close() {
        version.close();
        made.close();
    }

    @Test
    void aLargeArrayIsCutWhereHugePagesBegin() {
        List<SegmentStretch> stretches = stretches(regions("large", 100 * MIB));

        assertThat(stretches).hasSize(13);
        assertThat(stretches.subList(1, 13))
                .allSatisfy(stretch ->
                        assertThat(stretch.segmentPosition() % (8 * MIB)).isZero());
        assertThat(stretches.stream().mapToLong(SegmentCopyTest::byteSize).sum())
                .isEqualTo(100 * MIB);
    }

    @Test
    void manySmallFilesAreReadInStretchesThatEndWhereHugePagesDo() throws IOException {
        List<SegmentStretch> stretches = stretches(files("many", 3000, 10_000));

        assertThat(stretches).hasSize(8); // 256 of them have 2.4 MiB
        assertThat(stretches.subList(1, 8))
                .allSatisfy(stretch ->
                        assertThat(stretch.segmentPosition() % (2 * MIB)).isZero());
        assertThat(stretches(files("tiny", 10_000, 10))).hasSize(3);
    }

    @Test
    void manySmallExtentsOfAFileAreCutLikeALargeOne() {
        long[] sizes = IntStream.range(0, 2000).mapToLong(i -> 8000).toArray();

        assertThat(stretches(regions("extents", sizes))).hasSize(2);
    }

    /** Extents each of which lies in another file than the one before. */
    private SourceArray files(String name, int count, long byteSize) throws IOException {
        Path other = Files.write(sources.resolve("other"), new byte[1]);
        return ScriptedData.regions(
                name,
                IntStream.range(0, count)
                        .mapToObj(i -> new Extent(i % 2 == 0 ? file : other, 0, byteSize))
                        .toList());
    }

    @Test
    void aStreamIsNeverCut() {
        assertThat(stretches(ScriptedData.stream("packed", 100 * MIB, file, target -> -1)))
                .hasSize(1);
    }

    @Test
    void arraysAndExtentsWithoutBytesAreWrittenOnce() {
        assertThat(stretches(regions("empty", 0, 0, 0))).hasSize(1);
        List<SegmentStretch> stretches = stretches(regions("ends", 0, 8 * MIB - StoreLayout.DATA_START, 0, 0));
        assertThat(stretches).hasSize(1);
        assertThat(byteSize(stretches.get(0))).isEqualTo(8 * MIB - StoreLayout.DATA_START);
    }

    @Test
    void extentsThatDoNotAddUpAreAMistakeOfTheSource() {
        SourceArray array = regions("wrong", 10);
        SourceArray claimsMore = new SourceArray(
                array.name(), regions("longer", 11).header(), array.data(), array.files(), array.part());

        assertThatThrownBy(() -> stretches(claimsMore)).isInstanceOf(IllegalStateException.class);
    }

    private SourceArray regions(String name, long... byteSizes) {
        List<Extent> regions = new ArrayList<>();
        for (long byteSize : byteSizes) {
            regions.add(new Extent(file, 0, byteSize));
        }
        return ScriptedData.regions(name, regions);
    }

    /** Returns the bytes of data in a stretch of one array. */
    private static long byteSize(SegmentStretch stretch) {
        return stretch.segmentEnd() - stretch.segmentPosition();
    }

    private List<SegmentStretch> stretches(SourceArray array) {
        SegmentCopy segment = new SegmentCopy(
                version,
                LoadPlan.of(List.of(array), ScriptedData.NOT_PACKED).segments().get(0),
                new LoadProgress("d"));
        SegmentGroup group = SegmentGroup.of(List.of(segment), 1).get(0);
        List<SegmentStretch> stretches = new ArrayList<>();
        for (List<SegmentStretch> next = group.next(); !next.isEmpty(); next = group.next()) {
            assertThat(next).hasSize(1);
            stretches.add(next.get(0));
        }
        return stretches;
    }
}
