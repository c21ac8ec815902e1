package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.Philox;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

/**
 * Holds samplers to {@code sampler-vectors.txt}, which Python's samplers are tested with, too. With {@code -Dlarder.vectors.write=true} the
 * file is written instead. A line is: a name, rows, seed, epoch, samples, the CRC-32 of the order as 64-bit numbers, the description. The last
 * one has the logarithms of a weighted order, whose last bit decides only in orders of very many rows.
 */
class SamplerVectorsTest {
    private static final Path VECTORS = Path.of("src/test/resources/golden/sampler-vectors.txt");
    private static final int LOGARITHMS = 100_000;

    @Test
    void samplersAreThoseOfTheVectors() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int rows : new int[] {1, 2, 3, 64, 1000, 40_003}) {
            describe(rows, 42, 0, lines);
            describe(rows, -7, 3, lines);
            describe(rows, Long.MAX_VALUE, 1L << 33, lines);
        }
        lines.add("log " + LOGARITHMS + " 42 0 " + crc(LOGARITHMS, SamplerVectorsTest::logarithm));
        String text = String.join("\n", lines) + "\n";
        if (Boolean.getBoolean("larder.vectors.write")) {
            Files.writeString(VECTORS, text);
        }
        assertThat(text).isEqualTo(Files.readString(VECTORS));
    }

    private static void describe(int rows, long seed, long epoch, List<String> lines) {
        samplers(rows, seed).forEach((name, sampler) -> {
            SampleOrder order = sampler.order(rows, epoch);
            lines.add(String.join(
                    " ",
                    name,
                    Long.toString(rows),
                    Long.toString(seed),
                    Long.toString(epoch),
                    Long.toString(order.length()),
                    Long.toString(crc(order.length(), order::row)),
                    sampler.description()));
        });
    }

    private static Map<String, Sampler> samplers(int rows, long seed) {
        double[] weights = IntStream.range(0, rows)
                .mapToDouble(i -> (i == 0 ? 1 : i * 37L % 101) / 7.0)
                .toArray();
        long[] labels = LongStream.range(0, rows).map(i -> i * i % 13 - 3).toArray();
        Sampler weighted = Sampler.weighted(weights, 2L * rows, seed);
        Sampler once = Sampler.weightedWithoutReplacement(weights, (rows + 2) / 3, seed);
        Sampler stratified = Sampler.stratified(Labels.of(labels), seed);
        Subset some = Subset.of(
                LongStream.range(0, (rows + 1) / 2).map(i -> i * 7919 % rows).toArray());
        Map<String, Sampler> samplers = new LinkedHashMap<>();
        samplers.put("permuted", Sampler.permuted(seed));
        samplers.put("weighted", weighted);
        samplers.put("weighted-once", once);
        samplers.put("stratified", stratified);
        samplers.put("some-random", Sampler.random(seed).over(some));
        samplers.put("some-weighted", weighted.over(some));
        samplers.put("some-weighted-once", once.over(some));
        samplers.put("some-stratified", stratified.over(some));
        samplers.put("range", Sampler.sequential().over(Subset.range(rows / 3, rows / 2)));
        return samplers;
    }

    private static long logarithm(long row) {
        return Double.doubleToRawLongBits(
                StrictMath.log(1 - Philox.unitDouble(Philox.bits(42, 0, row, Draws.WEIGHTED_ONCE))));
    }

    private static long crc(long count, LongUnaryOperator numbers) {
        CRC32 crc = new CRC32();
        ByteBuffer eight = ByteBuffer.allocate(Long.BYTES);
        for (long place = 0; place < count; place++) {
            crc.update(eight.putLong(0, numbers.applyAsLong(place)).array());
        }
        return crc.getValue();
    }
}
