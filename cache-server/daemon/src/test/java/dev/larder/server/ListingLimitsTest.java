package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Arrays whose description is long: none of them keeps the others from being listed. */
@Timeout(60)
class ListingLimitsTest {
    @TempDir
    private Path sources;

    private ServedStore served;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        served.start();
        served.load("good", ServedStore.writeInts(sources.resolve("good.npy"), 1));
    }

    @AfterEach
    void stop() {
        served.close();
    }

    @Test
    void fieldsWithNamesOutsideAsciiAreListedAsTheyAre() throws IOException {
        Path file = structured("emoji.npy", 110, 25);

        served.load("emoji", file);

        assertThat(served.control().list("", false))
                .extracting(ArrayRow::name)
                .containsExactly("emoji/emoji", "good/good");
        assertThat(served.control().list("emoji/", false).get(0).dtype()).contains("\ud83d\ude00");
    }

    @Test
    void aTypeThatNoListingCanShowIsRefusedAndTheOthersAreListed() throws IOException {
        Path file = structured("long.npy", 10, 910);

        assertThatThrownBy(() -> served.load("long", file))
                .hasMessageContaining("its array cannot be listed: its dtype takes");

        assertThat(served.control().list("", true)).hasSize(1);
    }

    @Test
    void namesThatAreTooLongTogetherAreRefusedAndTheOthersAreListed() throws IOException {
        Path folder = Files.createDirectories(sources.resolve(
                "f/" + IntStream.range(0, 4).mapToObj(i -> "x".repeat(240)).collect(Collectors.joining("/"))));
        ServedStore.writeInts(folder.resolve("a.npy"), 1);

        assertThatThrownBy(() -> served.load("d".repeat(100), sources.resolve("f")))
                .hasMessageContaining("its array cannot be listed: the names of its dataset and itself have");

        assertThat(served.control().list("", true)).hasSize(1);
    }

    @Test
    void aDatasetOfMoreArraysThanWantedIsOneRow() throws IOException {
        Path folder = Files.createDirectory(sources.resolve("many"));
        for (int i = 0; i < 30; i++) {
            ServedStore.writeInts(folder.resolve("a" + i + ".npy"), i, i);
        }
        served.load("many", folder);

        assertThat(served.control().list(30)).hasSize(31).noneMatch(ArrayRow::isWholeVersion);
        assertThat(served.control().list(29)).extracting(ArrayRow::name).containsExactly("good/good", "many/");
        ArrayRow row = served.control().list(29).get(1);
        assertThat(row.isWholeVersion()).isTrue();
        assertThat(row.shape()).containsExactly(30L);
        assertThat(row.dtype()).isEqualTo("<i4");
        assertThat(row.bytes()).isEqualTo(240);
        assertThat(row.digest()).isEqualTo(served.control().info("many").get(0).digest());
        assertThat(row.source()).isEqualTo(folder.toString());
    }

    @Test
    void aDatasetOfManyArraysInColumnsOrOfSeveralTypesIsListedAsItIs() throws IOException {
        Path folder = Files.createDirectory(sources.resolve("mixed"));
        ServedStore.writeInts(folder.resolve("a.npy"), 1);
        ServedStore.writeBytes(folder.resolve("b.npy"), 1);
        served.load("mixed", folder);
        Path lines = Files.writeString(sources.resolve("line.txt"), "one\ntwo\n");
        LoadRequest.Source source = new LoadRequest.Source("lines", lines.toString());
        LoadOptions texts = LoadOptions.none().withAs(LoadOptions.As.STRINGS);
        served.control().load(new LoadRequest(List.of(source), texts, 1), progress -> {});

        List<ArrayRow> rows = served.control().list(1);

        assertThat(rows)
                .extracting(ArrayRow::name)
                .containsExactly("good/good", "lines/line/bytes", "lines/line/offsets", "mixed/");
        assertThat(rows.get(3).dtype()).isEmpty();
    }

    @Test
    void aPrefixMayEndAnywhereInAName() throws IOException {
        served.load("goods", ServedStore.writeInts(sources.resolve("other.npy"), 1));

        assertThat(names("")).containsExactly("good/good", "goods/other");
        assertThat(names("go")).containsExactly("good/good", "goods/other");
        assertThat(names("good")).containsExactly("good/good", "goods/other");
        assertThat(names("good/")).containsExactly("good/good");
        assertThat(names("goods/oth")).containsExactly("goods/other");
        assertThat(names("goods/x")).isEmpty();
    }

    private List<String> names(String prefix) {
        return served.control().list(prefix, true).stream().map(ArrayRow::name).toList();
    }

    private Path structured(String name, int fields, int emojis) throws IOException {
        String descr = IntStream.range(0, fields)
                .mapToObj(i -> "('" + "\ud83d\ude00".repeat(emojis) + i + "', '|u1')")
                .collect(Collectors.joining(", ", "[", "]"));
        NpyHeader header = NpyHeader.of(Dtype.parse(descr), Order.C, 2);
        Path file = sources.resolve(name);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(header.encode(64));
            channel.write(ByteBuffer.allocate((int) header.byteSize()));
        }
        return file;
    }
}
