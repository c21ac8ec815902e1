package dev.larder.server.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.StoreLayout;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packs of arrays that come from a file of many, from files of their own, from streams, or have no bytes. */
@Timeout(300)
class PackCopyTest {
    private static final int SEED = 20_261_126;
    private static final int MIB = 1 << 20;
    private static final PackRule ONE_PACK = new PackRule(8 * MIB, 1, 1L << 30);

    @TempDir
    Path sources;

    private final Random random = new Random(SEED);
    private final Map<String, byte[]> expected = new HashMap<>();
    private final ByteArrayOutputStream shared = new ByteArrayOutputStream();

    private byte[] bytes(String name, int byteSize) {
        byte[] bytes = new byte[byteSize];
        random.nextBytes(bytes);
        expected.put(name, bytes);
        return bytes;
    }

    private int byteSize() {
        return random.nextInt(20) == 0 ? random.nextInt(4 * MIB) : random.nextInt(5000);
    }

    private SourceArray inItsOwnFile(String name) throws IOException {
        byte[] bytes = bytes(name, byteSize());
        Path file = Files.write(sources.resolve(name), bytes);
        return ScriptedData.regions(name, List.of(new Extent(file, 0, bytes.length)));
    }

    private SourceArray stream(String name, Path file) {
        ByteBuffer left = ByteBuffer.wrap(bytes(name, byteSize()));
        return ScriptedData.stream(name, left.capacity(), file, target -> {
            int step = Math.min(Math.min(target.remaining(), left.remaining()), 1000);
            target.put(left.slice(left.position(), step));
            left.position(left.position() + step);
            return step == 0 ? -1 : step;
        });
    }

    private SourceArray empty(String name, Path file) {
        bytes(name, 0);
        return ScriptedData.regions(name, List.of(new Extent(file, 0, 0), new Extent(file, 7, 0)));
    }

    /** Adds an array to the file of many, in one extent or a few, some of them empty. */
    private List<Extent> sharedExtents(String name, Path file) {
        byte[] bytes = bytes(name, byteSize());
        List<Extent> extents = new ArrayList<>();
        for (int at = 0; at < bytes.length || extents.isEmpty(); ) {
            int step = random.nextInt(5) == 0 ? 0 : Math.min(bytes.length - at, 1 + random.nextInt(bytes.length + 1));
            shared.writeBytes(new byte[random.nextInt(1000)]);
            extents.add(new Extent(file, shared.size(), step));
            shared.write(bytes, at, step);
            at += step;
        }
        return extents;
    }

    private List<SourceArray> arrays() throws IOException {
        Path file = Files.createFile(sources.resolve("shared"));
        Map<String, List<Extent>> extents = new HashMap<>();
        for (int i = 0; i < 400; i++) {
            String name = "a%03d".formatted(i);
            extents.put(name, sharedExtents(name, file));
        }
        Files.write(file, shared.toByteArray());
        List<SourceArray> arrays = new ArrayList<>();
        extents.forEach((name, its) -> arrays.add(ScriptedData.regions(name, its)));
        for (int i = 0; i < 100; i++) { // names put them between the others
            arrays.add(inItsOwnFile("a%03d-own".formatted(i * 4)));
            arrays.add(stream("a%03d-stream".formatted(i * 4), file));
            arrays.add(empty("a%03d-empty".formatted(i * 4), file));
        }
        return arrays;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyArrayOfAPackHasItsHeaderItsBytesAndItsChecksum(boolean isOnDisk) throws IOException {
        Path root = isOnDisk ? sources.resolve("store") : LeavesNothingBehind.newFolder();
        Store store = Store.open(new StoreLayout(root), OptionalLong.of(1L << 40), Optional.empty());
        LoadPlan plan = LoadPlan.of(arrays(), ONE_PACK);
        LoadProgress progress = new LoadProgress("d");
        try (IncomingVersion version = store.newIncoming("d", Provenance.computed(0))) {
            try (Copier copier = new Copier(3, progress)) {
                copier.add(version, plan);
                copier.start();
                copier.await();
            }

            byte[] stored = Files.readAllBytes(version.folder().resolve("pack-0000"));
            assertThat(plan.segments())
                    .hasSize(1)
                    .allSatisfy(pack -> assertThat(pack.arrays())
                            .hasSameSizeAs(expected.keySet())
                            .allSatisfy(array -> requireStored(array, stored)));
        }
        assertThat(progress.snapshot().bytesDone())
                .isEqualTo(
                        expected.values().stream().mapToLong(one -> one.length).sum());
        store.removeAll(List.of());
    }

    private void requireStored(SegmentArray array, byte[] stored) {
        String name = array.source().name().array();
        byte[] bytes = Objects.requireNonNull(expected.get(name));
        int head = (int) (array.dataOffset() - array.headOffset());
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        assertThat(ByteBuffer.wrap(stored, (int) array.headOffset(), head)).isEqualTo(array.head());
        assertThat(ByteBuffer.wrap(stored, (int) array.dataOffset(), bytes.length))
                .as(name)
                .isEqualTo(ByteBuffer.wrap(bytes));
        assertThat(array.entry("").crc32c()).as(name).isEqualTo((int) crc.getValue());
    }
}
