package dev.larder.npy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** One line of index.tsv: a file and what numpy reads from it. */
record GoldenFile(
        String name,
        String descr,
        List<Long> shape,
        Order order,
        int itemSize,
        long byteSize,
        long dataOffset,
        int version,
        boolean byNumpy) {

    static List<GoldenFile> all() {
        return new String(resource("index.tsv"), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(GoldenFile::parse)
                .toList();
    }

    private static GoldenFile parse(String line) {
        List<String> words = List.of(line.split("\t", -1));
        List<Long> shape = Arrays.stream(words.get(2).split(","))
                .filter(word -> !word.isEmpty())
                .map(Long::valueOf)
                .toList();
        return new GoldenFile(
                words.get(0),
                words.get(1),
                shape,
                words.get(3).equals("True") ? Order.F : Order.C,
                Integer.parseInt(words.get(4)),
                Long.parseLong(words.get(5)),
                Long.parseLong(words.get(6)),
                Integer.parseInt(words.get(7)),
                words.get(8).equals("numpy"));
    }

    byte[] content() {
        return resource(name);
    }

    private static byte[] resource(String name) {
        try (InputStream in = GoldenFile.class.getResourceAsStream("/npy/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
