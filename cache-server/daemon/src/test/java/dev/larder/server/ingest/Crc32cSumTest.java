package dev.larder.server.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Crc32cSumTest {
    private static final int SEED = 20_260_101;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 7, 8, 63, 64, 65, 4095, 4096, 999_999, 1_000_000})
    void twoPartsHaveTheSumOfTheWhole(int cut) {
        byte[] data = new byte[1_000_000];
        new Random(SEED).nextBytes(data);

        int sum = Crc32cSum.of(crc(data, 0, cut), crc(data, cut, data.length), data.length - cut);

        assertThat(sum).isEqualTo(crc(data, 0, data.length));
    }

    @Test
    void zerosBeyondAnyBufferAreSummedInNoTime() {
        byte[] zeros = new byte[1 << 20];
        int power = crc(zeros, 0, zeros.length);
        for (long byteSize = 1 << 20; byteSize < 1L << 40; byteSize *= 2) {
            power = Crc32cSum.of(power, power, byteSize);
        }

        int parts = crc(zeros, 0, 3);
        parts = Crc32cSum.of(parts, Crc32cSum.of(power, 0, 0), 1L << 40);

        assertThat(Crc32cSum.of(power, crc(zeros, 0, 3), 3)).isEqualTo(parts);
    }

    private static int crc(byte[] data, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(data, from, to - from);
        return (int) crc.getValue();
    }
}
