package dev.larder.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RankProgressTest {
    private static final String TEXT = "left=2,5,9 reached=10 before=3 rank=1 world=2 batch=4 taken=6 missing=0,2-4";

    private static RankProgress rank(Rest base, int rank, int world, long batch, long taken, long... missing) {
        return new RankProgress(base, 0, rank, world, batch, taken, missing);
    }

    @Test
    void aTextIsReadAsItWasWritten() {
        RankProgress read = RankProgress.parse(TEXT);

        assertThat(read).hasToString(TEXT);
        assertThat(read.base()).hasToString("left=2,5,9 reached=10");
        assertThat(read.before()).isEqualTo(3);
        assertThat(read.missing()).containsExactly(0, 2, 3, 4);
        assertThat(RankProgress.parse("left= reached=4"))
                .hasToString("left= reached=4 before=0 rank=0 world=1 batch=1 taken=0 missing=");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "left",
                "=2 reached=10",
                "left=2 left=2",
                "left=2 before=3",
                "reached=10 before=3",
                "left=2 reached=10 before=3",
                "left=2 reached=10 before=3 rank=2 world=2 batch=4 taken=6 missing=",
                "left=2 reached=10 before=3 rank=-1 world=2 batch=4 taken=6 missing=",
                "left=2 reached=10 before=3 rank=0 world=0 batch=4 taken=6 missing=",
                "left=2 reached=10 before=3 rank=0 world=2 batch=0 taken=6 missing=",
                "left=2 reached=10 before=3 rank=0 world=2 batch=4 taken=-1 missing=",
                "left=2 reached=10 before=3 rank=0 world=2 batch=4 taken=6 missing=6",
                "left=10 reached=10 before=3 rank=0 world=2 batch=4 taken=6 missing=1"
            })
    void aTextThatIsNoProgressIsRefused(String text) {
        assertThatThrownBy(() -> RankProgress.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theSmallestNumbersAreAccepted() {
        assertThat(rank(Rest.from(0), 0, 1, 1, 0).taken()).isZero();
        assertThat(rank(Rest.from(0), 1, 2, 1, 1, 0).missing()).containsExactly(0);
    }

    @Test
    void unitsOfBatchesThatARankHasNotTakenAreLeft() {
        List<RankProgress> ranks = List.of(rank(Rest.from(0), 0, 2, 2, 3, 1), rank(Rest.from(0), 1, 2, 2, 1));

        assertThat(RankProgress.merged(ranks, 20)).hasToString("left=4-7,9,11 reached=12");
        assertThat(RankProgress.merged(ranks, 11)).hasToString("left=4-7,9 reached=11");
        assertThat(RankProgress.merged(ranks, 10)).hasToString("left=4-7,9 reached=10");
    }

    @Test
    void unitsThatWereLeftBeforeStayLeft() {
        Rest base = Rest.of(new long[] {2, 5, 9}, 10);

        assertThat(rank(base, 0, 1, 1, 2, 0).rest(12)).hasToString("left=2,9 reached=10");
        assertThat(rank(base, 0, 1, 1, 4).rest(12)).hasToString("left= reached=11");
        assertThat(RankProgress.of(base).rest(12)).hasToString("left=2,5,9 reached=10");
    }

    @Test
    void ranksGoTogetherIfTheyBeganTogether() {
        RankProgress first = RankProgress.parse(TEXT);

        assertThat(RankProgress.parse(TEXT.replace("rank=1", "rank=0").replace("taken=6", "taken=9")))
                .matches(first::goesWith);
        assertThat(Stream.of("left=2,6,8", "reached=11", "before=4", "world=3", "batch=5"))
                .allSatisfy(other -> assertThat(first.goesWith(
                                RankProgress.parse(TEXT.replaceFirst(other.replaceFirst("=.*", "=[0-9,]*"), other))))
                        .isFalse());
    }
}
