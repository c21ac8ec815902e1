package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares with what {@code src/test/python/make_layout_vectors.py} computed from the specification alone. */
class LayoutVectorsTest {
    @Test
    void namesHashAsSpecified() throws IOException {
        List<String[]> vectors =
                vectors().filter(line -> line[0].equals("hash")).toList();

        assertThat(vectors)
                .hasSize(10)
                .allSatisfy(vector -> assertThat(String.format(
                                "%016x", IndexDescriptor.hash(vector[1].getBytes(StandardCharsets.UTF_8))))
                        .isEqualTo(vector[2]));
    }

    @Test
    void digestsAreAsSpecified() throws IOException {
        List<ArrayEntry> arrays = new ArrayList<>();
        int digests = 0;
        for (String[] line : vectors().toList()) {
            if (line[0].equals("array")) {
                arrays.add(new ArrayEntry(
                        line[1],
                        line[2],
                        line[4].charAt(0),
                        shape(line[3]),
                        "",
                        0,
                        0,
                        Integer.parseUnsignedInt(line[5], 16)));
            } else if (line[0].equals("digest")) {
                assertThat(Digest.hex(Digest.of(arrays))).isEqualTo(line[1]);
                arrays.clear();
                digests++;
            }
        }
        assertThat(digests).isEqualTo(6);
    }

    private static long[] shape(String text) {
        return Stream.of(text.split(","))
                .filter(size -> !size.isEmpty())
                .mapToLong(Long::parseLong)
                .toArray();
    }

    private static Stream<String[]> vectors() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(LayoutVectorsTest.class.getResourceAsStream("/layout/vectors.tsv"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().map(line -> line.split("\t", -1));
        }
    }
}
