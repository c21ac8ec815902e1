package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class ByteSumsTest {
    private static final long MOST = Long.MAX_VALUE;

    @Test
    void sumsUpToTheLargestSizeAreExact() {
        assertThat(ByteSums.add(MOST - 1, 1)).isEqualTo(MOST);
        assertThat(ByteSums.multiply(1L << 31, 1L << 31)).isEqualTo(1L << 62);
        assertThat(ByteSums.sum(LongStream.of(MOST - 3, 1, 2))).isEqualTo(MOST);
        assertThat(ByteSums.sum(LongStream.empty())).isZero();
        assertThat(ByteSums.roundUp(4097, 4096)).isEqualTo(8192);
        assertThat(ByteSums.roundUp(4096, 4096)).isEqualTo(4096);
        assertThat(ByteSums.roundUp(0, 4096)).isZero();
        assertThat(ByteSums.roundDown(8191, 4096)).isEqualTo(4096);
        assertThat(ByteSums.roundDown(4096, 4096)).isEqualTo(4096);
        assertThat(ByteSums.roundDown(12_293, 4096)).isEqualTo(12_288);
    }

    @Test
    void whatIsBeyondIsRefusedAsTooLargeForAnyStore() {
        requireRefused(() -> ByteSums.add(MOST, 1));
        requireRefused(() -> ByteSums.multiply(1L << 32, 1L << 31));
        requireRefused(() -> ByteSums.sum(LongStream.of(5L << 60, 5L << 60)));
        requireRefused(() -> ByteSums.roundUp(MOST, 4096));
    }

    private static void requireRefused(ThrowingCallable sum) {
        assertThatThrownBy(sum)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageStartingWith("not enough space: needed=more than 2^63 bytes; ");
    }
}
