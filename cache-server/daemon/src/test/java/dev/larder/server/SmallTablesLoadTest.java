package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads tables of very many small columns into a store with little room. */
class SmallTablesLoadTest {
    private static final String LETTERS = "abcdefghij";

    @TempDir
    Path folder;

    private ServedStore store;

    @BeforeEach
    void start() {
        store = ServedStore.create();
        store.start(OptionalLong.of(50 << 20));
    }

    @AfterEach
    void stop() {
        store.close();
    }

    @Tag("slow")
    @Test
    void thousandsOfSmallTablesNeedLittleMoreThanTheirNumbers() throws IOException {
        String names = String.join(",", LETTERS.split(""));
        for (int table = 0; table < 2_000; table++) {
            String row = row(table, LETTERS.length());
            Files.writeString(folder.resolve("t" + table + ".csv"), names + "\n" + (row + "\n").repeat(5));
        }

        store.load("small", folder);

        try (Larder larder = Larder.connect(store.root());
                Dataset small = larder.dataset("small")) {
            for (int table = 0; table < 2_000; table += 37) {
                assertThat(small.array("t" + table + "/a").getLong(4)).isEqualTo(table);
                assertThat(small.array("t" + table + "/j").getLong(0)).isEqualTo(table + 9);
            }
        }
    }

    @Test
    void aTableOfThousandsOfColumnsNeedsLittleMoreThanItsNumbers() throws IOException {
        String names = IntStream.range(0, 20_000).mapToObj(i -> "x" + i).collect(Collectors.joining(","));
        Path file = folder.resolve("wide.csv");
        Files.writeString(file, names + "\n" + row(0, 20_000) + "\n" + row(1, 20_000) + "\n");

        store.load("wide", file);

        try (Larder larder = Larder.connect(store.root());
                Dataset wide = larder.dataset("wide")) {
            ArrayView numbers = wide.array("x");
            for (int column = 0; column < 20_000; column++) {
                assertThat(numbers.getLong(1, column)).isEqualTo(1 + column);
            }
        }
    }

    private static String row(int first, int columns) {
        return IntStream.range(first, first + columns)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(","));
    }
}
