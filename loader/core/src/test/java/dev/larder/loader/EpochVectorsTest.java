package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.Shard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Holds the loader to the batches and states of {@code epoch-vectors.txt}, by which the loader in Python is tested as well. With
 * {@code -Dlarder.vectors.write=true} the file is written instead.
 *
 * <p>A line is: rows, seed or {@code -}, epoch, batch size, rank, world, tail, whether short batches are dropped; the state that the epoch
 * goes on from, or nothing; then for each batch its rows, how many count, and how many samples are consumed after it; the last state.
 */
class EpochVectorsTest {
    private static final Path VECTORS = Path.of("src/test/resources/golden/epoch-vectors.txt");

    @Test
    void batchesAndStatesAreThoseOfTheVectors() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int rows : new int[] {1, 10, 61}) {
            try (Shelf shelf = Shelf.of(Map.of("labels", Shelf.labels(rows)))) {
                for (String seed : List.of("-", "42", "-7")) {
                    for (Shard shard : shards()) {
                        describe(shelf, rows, seed, shard, lines);
                    }
                }
            }
        }
        String text = String.join("\n", lines) + "\n";
        if (Boolean.getBoolean("larder.vectors.write")) {
            Files.writeString(VECTORS, text);
        }
        assertThat(text).isEqualTo(Files.readString(VECTORS));
    }

    private static List<Shard> shards() {
        List<Shard> shards = new ArrayList<>(List.of(Shard.whole()));
        for (int rank = 0; rank < 3; rank++) {
            Shard shard = Shard.of(rank, 3);
            shards.addAll(List.of(shard, shard.dropLast(), shard.exact()));
        }
        return shards;
    }

    private static void describe(Shelf shelf, int rows, String seed, Shard shard, List<String> lines) {
        for (boolean drop : new boolean[] {false, true}) {
            if (drop && shard.tail() == Shard.Tail.EXACT) {
                continue;
            }
            LoaderBuilder builder =
                    Loader.over(shelf.dataset).arrays("labels").batchSize(4).shard(shard);
            if (!seed.equals("-")) {
                builder.shuffle(Long.parseLong(seed));
            }
            try (Loader loader = builder.dropLast(drop).threads(0).build()) {
                String settings = rows + " " + seed + " 2 4 " + shard.rank() + " " + shard.world() + " "
                        + shard.tail().name().toLowerCase(Locale.ROOT) + " " + drop;
                List<LoaderState> states = new ArrayList<>();
                lines.add(settings + "\t\t" + batches(loader.epoch(2), states));
                LoaderState middle = states.isEmpty() ? null : states.get((states.size() - 1) / 2);
                if (middle != null && !middle.isEpochDone()) {
                    lines.add(settings + "\t" + middle.toJson() + "\t" + batches(loader.resume(middle), states));
                }
            }
        }
    }

    private static String batches(Epoch epoch, List<LoaderState> states) {
        List<String> spelled = new ArrayList<>();
        for (Batch batch : epoch) {
            LoaderState state = batch.stateAfter();
            states.add(state);
            String rows = Shelf.labels(batch).stream().map(String::valueOf).collect(Collectors.joining(","));
            spelled.add(rows + ":" + batch.validSize() + ":" + state.consumed());
        }
        String last = spelled.isEmpty() ? "" : states.get(states.size() - 1).toJson();
        return String.join(" ", spelled) + "\t" + last;
    }
}
