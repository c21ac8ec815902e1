package dev.larder.testing;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** What {@code src/test/python/make_column_vectors.py} computed from the specification alone. */
public final class GoldenColumns {
    /** The texts that are the keys of the column {@code scene} and the rows of {@code path}. */
    public static final List<String> TEXTS = List.of(
            "",
            "a",
            "scene0685_01",
            "scene0685_02",
            "größe",
            "日本語",
            "\uD83D\uDE00",
            "a\uD83D\uDE00ü x",
            "\0",
            "x".repeat(100));

    /** The keys of the column {@code id}. */
    public static final List<Long> INTEGERS =
            List.of(0L, 1L, -1L, 42L, 65536L, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE, 685L << 40);

    private GoldenColumns() {}

    /** Returns the lines of one kind, split. */
    public static List<String[]> lines(String kind) {
        try (InputStream in = Objects.requireNonNull(GoldenColumns.class.getResourceAsStream("/layout/columns.tsv"))) {
            String all = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return all.lines()
                    .map(line -> line.split("\t", -1))
                    .filter(line -> line[0].equals(kind))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns every array of every column by name. */
    public static Map<String, FixtureArray> arrays() {
        Map<String, FixtureArray> arrays = new LinkedHashMap<>();
        for (String[] line : lines("array")) {
            long[] shape = Stream.of(line[4].split(","))
                    .filter(size -> !size.isEmpty())
                    .mapToLong(Long::parseLong)
                    .toArray();
            NpyHeader header = NpyHeader.of(Dtype.parse(line[3]), Order.C, shape);
            ColumnPart part = ColumnPart.of(Integer.parseInt(line[2]));
            byte[] data = HexFormat.of().parseHex(line[5]);
            arrays.put(line[1], new FixtureArray(header, data, Objects.requireNonNull(part)));
        }
        return arrays;
    }
}
