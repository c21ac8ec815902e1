package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ShardFile;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.loader.sample.Shard;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** States of ranks over shards: two nodes, each with half of the rows and two ranks. */
@Timeout(120)
class ShardStatesTest {
    private static final int ROWS = 41;
    private static final int NODES = 2;
    private static final int WORLD = 4;
    private static final String WHOLE = "ab".repeat(32);

    private final List<Shelf> nodes = List.of(Shelf.ofSamples(ROWS, 4), Shelf.ofSamples(ROWS, 4));

    @BeforeEach
    void cut() throws IOException {
        for (int node = 0; node < NODES; node++) {
            Files.writeString(
                    nodes.get(node).dataset.stored().folder().resolve(StoreLayout.SHARD),
                    new ShardFile(new ShardRows(node, NODES), WHOLE).text());
        }
    }

    @AfterEach
    void close() {
        nodes.forEach(Shelf::close);
    }

    private LoaderBuilder over(int rank, int batch) {
        return Loader.over(nodes.get(rank * NODES / WORLD).dataset)
                .arrays("labels")
                .shuffle(7)
                .shard(rank, WORLD)
                .batchSize(batch)
                .threads(2);
    }

    /** Reads so many batches, one at least, notes their rows, and returns the state after the last. */
    private static LoaderState read(Epoch epoch, int steps, List<Long> seen) {
        String state = "";
        Iterator<Batch> batches = epoch.iterator();
        for (int step = 0; step < steps && batches.hasNext(); step++) {
            Batch batch = batches.next();
            Arrays.stream(batch.rows()).limit(batch.validSize()).forEach(seen::add);
            state = batch.stateAfter().toJson();
        }
        return LoaderState.parse(state);
    }

    private LoaderState after(int rank, int steps, boolean anyOrder, List<Long> seen) {
        LoaderBuilder builder = over(rank, 3);
        try (Loader loader = (anyOrder ? builder.inAnyOrder() : builder).build()) {
            return read(loader.epoch(0), steps, seen);
        }
    }

    @Test
    void ranksOfAllNodesHaveOneStateInOrderThatResumesOnEach() {
        List<LoaderState> states = new ArrayList<>();
        List<List<Long>> seen = Stream.generate(() -> (List<Long>) new ArrayList<Long>())
                .limit(WORLD)
                .toList();
        for (int rank = 0; rank < WORLD; rank++) {
            states.add(after(rank, 4, false, seen.get(rank)));
        }

        LoaderState merged = LoaderState.merged(states);

        for (int rank = 0; rank < WORLD; rank++) {
            List<Long> expected = new ArrayList<>();
            after(rank, Integer.MAX_VALUE, false, expected);
            try (Loader loader = over(rank, 3).build()) {
                read(loader.resume(merged), Integer.MAX_VALUE, seen.get(rank));
            }
            assertThat(seen.get(rank)).isEqualTo(expected);
        }
    }

    @Test
    void statesInAnyOrderAreMergedOnEachNodeAndVisitEachOfItsRowsOnce() {
        Rounds rounds = Rounds.of("states of shards in any order", 20);
        for (int round = 0; round < rounds.count(); round++) {
            int node = round % NODES;
            List<Long> seen = new ArrayList<>();
            List<LoaderState> states = new ArrayList<>();
            for (int rank = 2 * node; rank < 2 * node + 2; rank++) {
                states.add(after(rank, 1 + rounds.random().nextInt(5), true, seen));
            }

            LoaderState merged = LoaderState.parse(LoaderState.merged(states).toJson());
            for (int rank = 2 * node; rank < 2 * node + 2; rank++) {
                try (Loader loader = over(rank, 1).shard(exact(rank)).build()) {
                    read(loader.resume(merged), Integer.MAX_VALUE, seen);
                }
            }

            assertThat(seen.stream().distinct())
                    .as("%s round %d", rounds, round)
                    .hasSize(ROWS);
            assertThat(seen)
                    .hasSizeLessThanOrEqualTo(ROWS + 1); // the first sample once more, where ranks were to be equal
        }
    }

    private static Shard exact(int rank) {
        return Shard.of(rank, WORLD).exact();
    }

    @Test
    void statesInAnyOrderOfSeveralNodesAreNotMerged() {
        List<LoaderState> states = IntStream.range(0, WORLD)
                .mapToObj(rank -> after(rank, 2, true, new ArrayList<>()))
                .toList();

        assertThatThrownBy(() -> LoaderState.merged(states))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(
                        "states are of ranks on several nodes",
                        WHOLE + "/2:0",
                        WHOLE + "/2:1",
                        "merge those of each node");
    }

    @Test
    void aStateInAnyOrderIsRefusedOnAnotherNodeWhoseRowsItDoesNotMean() {
        List<LoaderState> states = new ArrayList<>();
        states.add(after(0, 2, true, new ArrayList<>()));
        states.add(after(1, 1, true, new ArrayList<>()));
        LoaderState merged = LoaderState.merged(states);

        try (Loader other = over(2, 3).build()) {
            assertThatThrownBy(() -> other.resume(merged))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("state is that of another node")
                    .hasMessageContaining("resume on each node the result of LoaderState.merged")
                    .satisfies(e -> assertThat(((LarderException) e).code()).isEqualTo(ErrorCode.BAD_INPUT));
        }
    }

    @Test
    void aStateOfAnotherNumberOfNodesOrOfOtherDataIsRefused() {
        LoaderState state = after(0, 1, false, new ArrayList<>());

        try (Loader loader = over(0, 3).build()) {
            assertThat(state.digest()).isEqualTo(WHOLE + "/2");
            for (String digest : List.of(WHOLE + "/3", WHOLE + "/3:1", WHOLE)) {
                assertThatThrownBy(() -> loader.resume(withDigest(state, digest)))
                        .isInstanceOf(LarderException.class)
                        .hasMessageContaining("state was saved on another number of nodes")
                        .hasMessageContaining("stateDigest=" + digest + " digest=" + WHOLE + "/2");
            }
            assertThatThrownBy(() -> loader.resume(withDigest(state, "cd".repeat(32) + "/2")))
                    .hasMessageContaining("state was saved over other data")
                    .hasMessageContaining("datasetWithDigest(name, digest)");
        }
    }

    private static LoaderState withDigest(LoaderState state, String digest) {
        return LoaderState.parse(state.toJson().replace(state.digest(), digest));
    }
}
