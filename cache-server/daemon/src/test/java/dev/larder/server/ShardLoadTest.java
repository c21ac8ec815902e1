package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Loads columns as several nodes do that have a shard each, and compares these with a load of the whole. */
@Timeout(300)
class ShardLoadTest {
    private static final byte[] PNG = HexFormat.of().parseHex("89504e470d0a1a0a");

    @TempDir
    private Path folder;

    private ServedStore served;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        served.start();
    }

    @AfterEach
    void stop() {
        served.close();
    }

    private void load(String name, Path path, LoadOptions options) {
        LoadRequest.Source source = new LoadRequest.Source(name, path.toString());
        served.control().load(new LoadRequest(List.of(source), options, 2), progress -> {});
    }

    /** Loads the whole, and its shards on so many nodes; compares every row. */
    private void requireShards(Path source, LoadOptions options, int nodes) {
        List<String> names = new ArrayList<>();
        load("whole", source, options);
        for (int node = 0; node < nodes; node++) {
            names.add("shard" + node);
            load(names.get(node), source, options.withShard(new ShardRows(node, nodes)));
        }
        try (Larder larder = Larder.connect(served.root())) {
            ShardParts.requireShards(larder, "whole", names);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"IMAGES", "BYTES", "STRINGS", "RAGGED", "INDEX"})
    void shardsOfAnyColumnsHaveTheRowsThatTheyShouldAndMakeUpTheWhole(LoadOptions.As as) throws IOException {
        Rounds rounds = Rounds.of("shards of columns, as " + as, 3);
        for (int round = 0; round < rounds.count(); round++) {
            Path source = folder.resolve("source" + round);
            int rows = 1 + rounds.random().nextInt(rounds.random().nextBoolean() ? 4 : 40);

            write(as, source, rows, rounds.random());

            requireShards(
                    source, LoadOptions.none().withAs(as), 2 + rounds.random().nextInt(4));
        }
    }

    private static void write(LoadOptions.As as, Path source, int rows, Random random) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            byte[] bytes = new byte[random.nextInt(random.nextBoolean() ? 3 : 3000)];
            random.nextBytes(bytes);
            String name = "row" + random.nextInt(1 << 20) + "-" + row;
            lines.add(name + "x".repeat(random.nextInt(5)));
            if (as == LoadOptions.As.IMAGES) {
                write(source.resolve("class" + random.nextInt(3)).resolve(name + ".png"), PNG, bytes);
            } else if (as == LoadOptions.As.BYTES) {
                write(source.resolve(name), new byte[0], bytes);
            } else if (as == LoadOptions.As.RAGGED) {
                byte[] boxes = Arrays.copyOf(bytes, bytes.length / 6 * 6);
                NpyHeader header = NpyHeader.of(Dtype.parse("<i2"), Order.C, boxes.length / 6, 3);
                write(source.resolve(name + ".npy"), header.encode(64).array(), boxes);
            }
        }
        if (as == LoadOptions.As.STRINGS || as == LoadOptions.As.INDEX) {
            write(
                    source.resolve("lines.txt"),
                    new byte[0],
                    String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void write(Path file, byte[] start, byte[] rest) throws IOException {
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        byte[] all = Arrays.copyOf(start, start.length + rest.length);
        System.arraycopy(rest, 0, all, start.length, rest.length);
        Files.write(file, all);
    }

    private static Path golden(String name) {
        try {
            return Path.of(Objects.requireNonNull(ShardLoadTest.class.getResource("/arrow/refused.tsv"))
                            .toURI())
                    .resolveSibling(name);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "all",
            value = {
                "saved | label,grid,text,grown,ids,image",
                "dictionaries-stream.arrow | animal,wide,holes",
                "lists-stream.arrow | list,holes,boxes,matrix",
                "nulls.arrow | all",
                "sliced.arrow | all",
                "empty.arrow | all"
            })
    void shardsOfArrowTablesKeepTheirColumnsTogetherAndAllClasses(String name, @Nullable String columns) {
        List<String> keys = columns == null ? List.of() : List.of(columns.split(",", -1));

        requireShards(golden(name), LoadOptions.none().withKeys(keys), 3);
    }

    @Test
    void listsWhoseItemsLieApartAreRefusedByName() {
        assertThatThrownBy(() -> requireShards(golden("lists-stream.arrow"), LoadOptions.none(), 2))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("an array cannot be cut into shards: array=shard0/")
                .hasMessageContaining("the items of its lists lie apart from its rows");
    }

    @Test
    void verifyingAShardComparesItWithItsOwnRowsOfTheSource() throws IOException {
        Path source = folder.resolve("source");
        write(LoadOptions.As.BYTES, source, 9, new Random(1));
        requireShards(source, LoadOptions.none().withAs(LoadOptions.As.BYTES), 2);

        assertThat(served.control()
                        .verifyAgainstSources("shard1", progress -> {})
                        .files())
                .isPositive();
    }

    @Test
    void aSourceWithOtherRowsElsewhereIsNoLongerKnownToBeOfTheSameWhole() throws IOException {
        Path source = folder.resolve("source");
        write(LoadOptions.As.BYTES, source, 8, new Random(1));
        LoadOptions second = LoadOptions.none().withAs(LoadOptions.As.BYTES).withShard(new ShardRows(1, 2));
        load("d", source, second);
        try (Larder larder = Larder.connect(served.root());
                Dataset shard = larder.dataset("d")) {
            served.control().noteWhole("d", shard.digest(), "0".repeat(64));
        }

        try (var files = Files.list(source)) {
            Files.writeString(files.sorted().findFirst().orElseThrow(), "longer than before");
        }
        load("d", source, second);

        try (Larder larder = Larder.connect(served.root());
                Dataset shard = larder.dataset("d")) {
            assertThat(shard.stored().wholeDigest()).isEmpty();
        }
    }
}
