package dev.larder.server.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.residency.PublishedStore;
import dev.larder.server.source.FileRegion;
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
        List<List<Stretch>> batches = batches(regions("large", 100 * MIB));

        assertThat(batches).hasSize(13);
        assertThat(batches.subList(1, 13))
                .allSatisfy(batch ->
                        assertThat(batch.get(0).segmentPosition() % (8 * MIB)).isZero());
        assertThat(batches.stream().mapToLong(batch -> batch.get(0).byteSize()).sum())
                .isEqualTo(100 * MIB);
    }

    @Test
    void manySmallFilesAreReadInBatchesThatEndWhereHugePagesDo() throws IOException {
        List<List<Stretch>> batches = batches(files("many", 3000, 10_000));

        assertThat(batches).hasSize(8); // 256 of them have 2.4 MiB
        assertThat(batches.subList(1, 8))
                .allSatisfy(batch ->
                        assertThat(batch.get(0).segmentPosition() % (2 * MIB)).isZero());
        assertThat(batches(files("tiny", 10_000, 10))).hasSize(3);
    }

    @Test
    void manySmallStretchesOfAFileAreCutLikeALargeOne() {
        long[] sizes = IntStream.range(0, 2000).mapToLong(i -> 8000).toArray();

        assertThat(batches(regions("stretches", sizes))).hasSize(2);
    }

    /** Stretches each of which lies in another file than the one before. */
    private SourceArray files(String name, int count, long byteSize) throws IOException {
        Path other = Files.write(sources.resolve("other"), new byte[1]);
        return ScriptedData.regions(
                name,
                IntStream.range(0, count)
                        .mapToObj(i -> new FileRegion(i % 2 == 0 ? file : other, 0, byteSize))
                        .toList());
    }

    @Test
    void aStreamIsNeverCut() {
        assertThat(batches(ScriptedData.stream("packed", 100 * MIB, file, target -> -1)))
                .hasSize(1);
    }

    @Test
    void arraysAndStretchesWithoutBytesAreWrittenOnce() {
        assertThat(batches(regions("empty", 0, 0, 0)))
                .hasSize(1)
                .allSatisfy(batch -> assertThat(batch).hasSize(1));
        List<List<Stretch>> batches = batches(regions("ends", 0, 8 * MIB - StoreLayout.DATA_START, 0, 0));
        assertThat(batches).hasSize(1);
        assertThat(batches.get(0)).hasSize(1);
    }

    @Test
    void stretchesThatDoNotAddUpAreAMistakeOfTheSource() {
        SourceArray array = regions("wrong", 10);
        SourceArray claimsMore = new SourceArray(
                array.name(), regions("longer", 11).header(), array.data(), array.files(), array.part());

        assertThatThrownBy(() -> batches(claimsMore)).isInstanceOf(IllegalStateException.class);
    }

    private SourceArray regions(String name, long... byteSizes) {
        List<FileRegion> regions = new ArrayList<>();
        for (long byteSize : byteSizes) {
            regions.add(new FileRegion(file, 0, byteSize));
        }
        return ScriptedData.regions(name, regions);
    }

    private List<List<Stretch>> batches(SourceArray array) {
        SegmentCopy segment = new SegmentCopy(
                version,
                LoadPlan.of(List.of(array), ScriptedData.NOT_PACKED).segments().get(0),
                new LoadProgress("d"));
        SegmentGroup group = SegmentGroup.of(List.of(segment), 1).get(0);
        List<List<Stretch>> batches = new ArrayList<>();
        for (List<SegmentBatch> next = group.next(); !next.isEmpty(); next = group.next()) {
            batches.add(next.get(0).stretches());
        }
        return batches;
    }
}
