package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.sample.Shard.Tail;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardTest {
    private static final long MODULUS = (1L << 61) - 1;

    /** Compares with what {@code src/test/python/make_shard_vectors.py} says by PyTorch's rules. */
    @Test
    void everyRankVisitsWhatADistributedSamplerOfPyTorchGivesIt() throws IOException {
        List<String> vectors = vectors();
        boolean full = true;
        for (String vector : vectors) {
            if (vector.isEmpty()) {
                full = false;
                continue;
            }
            String[] parts = vector.split("\\|", -1);
            for (int rank = 0; rank + 1 < parts.length; rank++) {
                long[] visited = Shards.units(shard(parts[0], rank), units(parts[0]));
                assertThat(spelled(full ? visited : summary(visited)))
                        .as("%s rank %d", parts[0], rank)
                        .isEqualTo(parts[rank + 1]);
            }
        }
        assertThat(vectors).hasSizeGreaterThan(680);
    }

    /** As {@code DistributedSampler(range(10), 3, rank, seed=0)} does after {@code torch.randperm(10)}. */
    @Test
    void shuffledSamplesAreDealtOutAsByPyTorch() {
        SampleOrder order = Sampler.random(0).order(10, 0);

        List<long[]> ranks = LongStream.range(0, 3)
                .mapToObj(rank -> LongStream.of(Shards.units(Shard.of((int) rank, 3), 10))
                        .map(order::row)
                        .toArray())
                .toList();
        assertThat(ranks.get(0)).containsExactly(4, 5, 0, 2);
        assertThat(ranks.get(1)).containsExactly(1, 3, 8, 4);
        assertThat(ranks.get(2)).containsExactly(7, 9, 6, 1);
    }

    @Test
    void exactRanksVisitEveryUnitOnceAndDifferByOne() {
        for (int units = 0; units <= 40; units++) {
            for (int world = 1; world <= 9; world++) {
                long[] visited = new long[0];
                for (int rank = 0; rank < world; rank++) {
                    Shard shard = Shard.of(rank, world).exact();
                    long[] mine = Shards.units(shard, units);
                    assertThat((long) mine.length).isBetween((long) units / world, shard.turns(units));
                    visited = LongStream.concat(LongStream.of(visited), LongStream.of(mine))
                            .toArray();
                }
                assertThat(Visits.sorted(visited)).containsExactly(Visits.range(units));
            }
        }
    }

    @Test
    void ranksTakeAsManyTurnsAsTheOneWithMostUnits() {
        for (long units = 0; units <= 40; units++) {
            for (Tail tail : Tail.values()) {
                long most = 0;
                for (int rank = 0; rank < 7; rank++) {
                    most = Math.max(most, new Shard(rank, 7, tail).count(units));
                }
                assertThat(new Shard(3, 7, tail).turns(units)).isEqualTo(most);
            }
        }
    }

    @Test
    void veryManyUnitsAreCountedExactly() {
        Shard last = Shard.of(6, 7).exact();

        assertThat(last.count(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE / 7);
        assertThat(Shard.of(6, 7).count(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE / 7);
        assertThat(Shard.of(0, 2).count(Long.MAX_VALUE)).isEqualTo(1L << 62);
        assertThat(last.unit(Long.MAX_VALUE / 7 - 1)).isEqualTo(Long.MAX_VALUE - 1);
        assertThatThrownBy(() -> last.unit(Long.MAX_VALUE / 7)).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void onlyRankThereIsVisitsEverything() {
        assertThat(Shards.units(Shard.whole(), 5)).containsExactly(0, 1, 2, 3, 4);
    }

    @ParameterizedTest
    @CsvSource({"-1, 4", "4, 4", "0, 0", "0, -1", "5, 2"})
    void rankThatIsNoneIsRefused(int rank, int world) {
        assertThatThrownBy(() -> Shard.of(rank, world))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("world=" + world);
    }

    @Test
    void negativeNumberOfUnitsIsRefused() {
        for (Tail tail : Tail.values()) {
            Shard shard = new Shard(0, 2, tail);
            assertThatThrownBy(() -> shard.count(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> shard.turns(-1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static List<String> vectors() throws IOException {
        try (InputStream in = Objects.requireNonNull(
                ShardTest.class.getResourceAsStream("/golden/shard-vectors.txt"), "shard-vectors.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    private static Shard shard(String what, int rank) {
        String[] words = what.split(" ", -1);
        Shard shard = Shard.of(rank, Integer.parseInt(words[1]));
        return Boolean.parseBoolean(words[2]) ? shard.dropLast() : shard;
    }

    private static long units(String what) {
        return Long.parseLong(what.split(" ", -1)[0]);
    }

    private static long[] summary(long[] visited) {
        long weighted = 0;
        for (int i = 0; i < visited.length; i++) {
            weighted = (weighted + (i + 1) * visited[i]) % MODULUS;
        }
        int count = visited.length;
        long first = count == 0 ? -1 : visited[0];
        long last = count == 0 ? -1 : visited[count - 1];
        return new long[] {count, first, last, Arrays.stream(visited).sum(), weighted};
    }

    private static String spelled(long[] numbers) {
        return Arrays.stream(numbers).mapToObj(String::valueOf).collect(Collectors.joining(" "));
    }
}
