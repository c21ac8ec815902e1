package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.internal.sample.Mt19937;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

/**
 * Holds random orders to {@code order-vectors.txt}, by which those in Python are tested as well. With {@code -Dlarder.vectors.write=true}
 * the file is written instead. A line is: which way of drawing, rows, seed, the CRC-32 of the order as little-endian 32-bit numbers.
 */
class OrderVectorsTest {
    private static final Path VECTORS = Path.of("src/test/resources/golden/order-vectors.txt");

    @Test
    void ordersAreThoseOfTheVectors() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int rows : new int[] {0, 1, 2, 3, 63, 64, 65, 1000, 4096, 65_537, 1_000_003}) {
            for (long seed : new long[] {0, 42, -1, 0x1_0000_0007L, Long.MAX_VALUE}) {
                SampleOrder order = Sampler.random(seed).order(rows, 0);
                lines.add("narrow " + rows + " " + seed + " "
                        + crc(IntStream.range(0, rows).map(i -> (int) order.row(i))));
                int[] wide = new int[rows];
                RandomOrder.shuffleWide(wide, new Mt19937((int) seed));
                lines.add("wide " + rows + " " + seed + " " + crc(IntStream.of(wide)));
            }
        }
        String text = String.join("\n", lines) + "\n";
        if (Boolean.getBoolean("larder.vectors.write")) {
            Files.writeString(VECTORS, text);
        }
        assertThat(text).isEqualTo(Files.readString(VECTORS));
    }

    private static long crc(IntStream rows) {
        CRC32 crc = new CRC32();
        ByteBuffer four = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        rows.forEach(row -> crc.update(four.putInt(0, row).array()));
        return crc.getValue();
    }
}
