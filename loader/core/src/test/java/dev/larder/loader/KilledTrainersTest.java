package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Trains an epoch with ranks in Java and in Python by turns: each time it stops, or {@code kill -9} ends it, another one resumes at the last
 * state with another number of ranks. All together visit each sample once, with the receipts of a run that is not interrupted.
 */
@Timeout(600)
class KilledTrainersTest {
    private static final int ROWS = 131;
    private static final int ROUNDS = 50;
    private static final int MAX_WORLD = 8;
    private static final int TO_THE_END = 1000;

    @RegisterExtension
    static final Shelf shelf = Shelf.of(Map.of("labels", Shelf.labels(ROWS)));

    @Test
    void eachSampleComesOnceWithTheReceiptsOfARunThatIsNotInterrupted() throws IOException {
        Rounds rounds = Rounds.of("killed trainers", ROUNDS);
        assumeTrue(TrainerProcess.hasNumpy(), "needs Python with numpy");
        try (TrainerProcess java = TrainerProcess.java(shelf.store());
                TrainerProcess python = TrainerProcess.python(shelf.store(), rounds.count() > ROUNDS)) {
            List<TrainerProcess> trainers = List.of(java, python);
            for (int round = 0; round < rounds.count(); round++) {
                new Run(new Random(rounds.seed() + round), rounds + " round=" + round).train(trainers);
            }
            System.err.println(rounds + " kills of Java: " + java.kills() + ", of Python: " + python.kills());
            assertThat(java.kills()).isPositive();
            assertThat(python.kills()).isGreaterThan(rounds.count() / 4);
        }
    }

    /** One epoch. */
    private static final class Run {
        private final Random random;
        private final String name;
        private final String seed;
        private final int epoch;
        private final List<Long> order;
        private final List<Long> visited = new ArrayList<>();
        private final Map<Long, String> receipts = new HashMap<>();
        private String state = "";

        Run(Random random, String name) {
            this.random = random;
            this.name = name;
            this.seed = random.nextInt(4) == 0 ? "-" : String.valueOf(random.nextInt());
            this.epoch = random.nextInt(4);
            Sampler sampler = seed.equals("-") ? Sampler.sequential() : Sampler.random(Long.parseLong(seed));
            SampleOrder made = sampler.order(ROWS, epoch);
            this.order = LongStream.range(0, ROWS).map(made::row).boxed().toList();
            try (Loader loader = Loader.over(shelf.dataset)
                    .sampler(sampler)
                    .batchSize(1)
                    .threads(0)
                    .build()) {
                loader.epoch(epoch).forEach(batch -> receipts.put(batch.number() + 1, batch.receipt()));
            }
        }

        void train(List<TrainerProcess> trainers) throws IOException {
            boolean isDone = false;
            while (!isDone) {
                TrainerProcess trainer = trainers.get(random.nextInt(2));
                int steps = random.nextInt(4) == 0 ? TO_THE_END : random.nextInt(5);
                boolean kills = trainer.isToBeKilled();
                trainer.begin(settings(), kills ? TO_THE_END : steps, state);
                String line = trainer.line();
                for (int step = 0; !line.equals("end") && !(kills && step == 2); step++) {
                    add(line.split("\t"));
                    line = trainer.line();
                }
                if (kills) {
                    trainer.kill();
                }
                isDone = !state.isEmpty() && LoaderState.parse(state).isEpochDone();
            }
            assertThat(visited).as(name).isEqualTo(order);
            assertThat(LoaderState.parse(state).receipt()).as(name).isEqualTo(shelf.receipt(order));
        }

        private String settings() {
            Shard.Tail tail = random.nextBoolean() ? Shard.Tail.EXACT : Shard.Tail.PAD;
            return String.join(
                    "\t",
                    String.valueOf(1 + random.nextInt(MAX_WORLD)),
                    tail.name(),
                    seed,
                    String.valueOf(1 + random.nextInt(9)),
                    String.valueOf(epoch));
        }

        /** Adds a step of all ranks: the valid rows of each, and the state after it, the same of all. */
        private void add(String[] step) {
            assertThat(step).as(name).hasSize(2);
            List<String[]> ranks = Arrays.stream(step[0].split("\\|", -1))
                    .map(rows -> rows.isEmpty() ? new String[0] : rows.split(","))
                    .toList();
            for (int i = 0; i < ranks.get(0).length; i++) {
                for (String[] rank : ranks) {
                    if (i < rank.length) {
                        visited.add(Long.valueOf(rank[i]));
                    }
                }
            }
            state = step[1];
            LoaderState saved = LoaderState.parse(state);
            assertThat(saved.receipt()).as(name).isEqualTo(receipts.get(Math.min(ROWS, saved.consumed())));
        }
    }
}
