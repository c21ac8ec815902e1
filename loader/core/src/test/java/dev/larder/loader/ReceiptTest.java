package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.internal.slot.Receipt;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Receipts of single loaders. {@link KilledTrainersTest} compares those of runs that are killed. */
class ReceiptTest {
    private static final int ROWS = 97;

    @RegisterExtension
    static final Shelf shelf = Shelf.ofSamples(ROWS, 4);

    private static LoaderBuilder batchesOf(int size) {
        return Loader.over(shelf.dataset).shuffle(3).batchSize(size).threads(0);
    }

    @Test
    void valuesAreThoseThatPythonsIntegersGive() {
        assertThat(Receipt.term(0, 0)).isEqualTo(0xe220a8397b1dcdafL); // the first number of SplitMix64
        assertThat(Receipt.term(1, 0)).isEqualTo(0x6e789e6aa1b965f4L);
        assertThat(Receipt.term(0, 1)).isEqualTo(0xf4a90164c4749e1aL);
        assertThat(Receipt.term(10_000_000_000L, 3)).isEqualTo(0xcfe504e5b4f8d2a3L);
        Receipt start = Receipt.ofDataset("ab".repeat(32));
        long terms = Receipt.term(0, 3) + Receipt.term(1, 1) + Receipt.term(2, 2);

        assertThat(start).hasToString("271a413bd339c570");
        assertThat(start.plus(new Receipt(terms, 0))).hasToString("9fed8038863b9309");
        assertThat(Receipt.parse("9fed8038863b9309-000000000000000f").skipped()).isEqualTo(15);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 8})
    void everyRankHasTheReceiptOfAllRanksAfterEachBatch(int world) {
        for (int rank = 0; rank < world; rank++) {
            try (Loader loader = batchesOf(2).shard(rank, world).build()) {
                for (Batch batch : loader.epoch(1)) {
                    assertThat(batch.receipt())
                            .isEqualTo(receiptOf(batch.stateAfter().consumed()));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void batchesOfASamplerHaveTheReceiptOfTheirSamplesAlsoAfterAResumeOnOtherRanks(int rank) {
        LoaderBuilder batches = Loader.over(shelf.dataset).batches(BatchSampler.of(Sampler.random(3), 5, false));
        try (Loader loader = batches.shard(rank, 3).build();
                Loader other = batches.shard(3, 4).build()) {
            for (Batch batch : loader.epoch(1)) {
                LoaderState state = batch.stateAfter();

                assertThat(state.receipt()).isEqualTo(receiptOf(state.consumed()));
                for (Batch next : other.resume(state)) {
                    assertThat(next.receipt())
                            .isEqualTo(receiptOf(next.stateAfter().consumed()));
                }
            }
        }
    }

    /** Returns the receipt of the first samples of epoch 1. */
    private static String receiptOf(long consumed) {
        SampleOrder order = Sampler.random(3).order(ROWS, 1);
        return shelf.receipt(LongStream.range(0, Math.min(ROWS, consumed))
                .map(order::row)
                .boxed()
                .toList());
    }

    @Test
    void ofTwoRowsThatChangePlacesTheReceiptChanges() {
        List<Long> rows = new ArrayList<>(LongStream.range(0, ROWS).boxed().toList());
        String before = shelf.receipt(rows);

        Collections.swap(rows, 40, 41);

        assertThat(shelf.receipt(rows)).isNotEqualTo(before);
    }

    @Test
    void batchesThatAreKeptHaveTheirReceiptAfterTheEpochAndInAnyTurn() {
        try (Loader loader = batchesOf(5).shard(1, 3).prefetch(4).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            List<Batch> kept = List.of(batches.next().keep(), batches.next().keep());
            List<String> before = kept.stream().map(Batch::receipt).toList();
            loader.epoch(1);

            assertThat(kept.get(1).receipt()).isEqualTo(before.get(1));
            assertThat(kept.get(0).receipt()).isEqualTo(before.get(0)).isNotEqualTo(before.get(1));
            kept.forEach(Batch::close);
        }
    }

    /** A sampler of a user, whose description does not change with its order. */
    private record Turned(long by) implements Sampler {
        @Override
        public SampleOrder order(long rows, long epoch) {
            return new SampleOrder() {
                @Override
                public long length() {
                    return rows;
                }

                @Override
                public long row(long position) {
                    return (position + by) % rows;
                }
            };
        }

        @Override
        public String description() {
            return "custom turned";
        }
    }

    @Test
    void anOrderThatIsAnotherUnderTheSameDescriptionIsRefusedWithBothReceipts() {
        LoaderState state;
        try (Loader loader =
                Loader.over(shelf.dataset).sampler(new Turned(1)).batchSize(10).build()) {
            state = loader.epoch(0).iterator().next().stateAfter();
        }
        String other = shelf.receipt(LongStream.range(2, 12).boxed().toList());
        try (Loader loader =
                Loader.over(shelf.dataset).sampler(new Turned(2)).batchSize(10).build()) {
            assertThatThrownBy(() -> loader.resume(state))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("state was saved after other samples than the order has")
                    .hasMessageContaining("consumed=10")
                    .hasMessageContaining("stateReceipt=" + state.receipt())
                    .hasMessageContaining(" receipt=" + other);
        }
    }

    @Test
    void anEpochThatIsResumedFromAStateWithoutAReceiptHasNone() {
        try (Loader loader = batchesOf(10).build()) {
            LoaderState state = loader.epoch(2).iterator().next().stateAfter();
            String without = state.toJson().replaceAll(",\"receipt\":\"[^\"]*\"", "");
            Batch next = loader.resume(LoaderState.parse(without)).iterator().next();

            assertThat(next.receipt()).isEmpty();
            assertThat(next.stateAfter().toJson()).doesNotContain("receipt");
            assertThat(loader.epoch(3).iterator().next().receipt()).isNotEmpty();
            assertThatThrownBy(() -> LoaderState.parse(state.toJson().replace(state.receipt(), "12")))
                    .hasMessageContaining("not a receipt: 12");
        }
    }

    @Test
    void skippedSamplesCountAndStandApartInTheReceiptUntilTheEndOfTheEpoch() {
        List<Long> skipped = new ArrayList<>();
        List<LoaderState> states = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            try (Loader loader = skipping(rank, 2).build()) {
                states.add(loader.epoch(0).iterator().next().stateAfter());
            }
        }
        LoaderState merged = LoaderState.parse(LoaderState.merged(states).toJson());
        SampleOrder order = Sampler.random(3).order(ROWS, 0);
        for (long position = 0; position < ROWS; position++) {
            if (order.row(position) % 5 == 0) {
                skipped.add(Receipt.term(position, order.row(position)));
            }
        }

        try (Loader loader = skipping(0, 1).build()) {
            String last = "";
            for (Batch batch : loader.resume(merged)) {
                last = batch.receipt();
            }

            assertThat(last)
                    .startsWith(shelf.receipt(LongStream.range(0, ROWS)
                                    .map(order::row)
                                    .boxed()
                                    .toList())
                            + "-");
            assertThat(Receipt.parse(last).skipped())
                    .isEqualTo(skipped.stream().mapToLong(term -> term).sum());
        }
    }

    /** Returns a loader that cannot make every fifth row. */
    private static LoaderBuilder skipping(int rank, int world) {
        Transform refusing = new Transform().map(Dtype.parse("<i4"), new long[0], (sample, result, draws) -> {
            if (sample.getInt(0) % 5 == 0) {
                throw new IllegalArgumentException("not this one");
            }
            result.put(sample);
        });
        return Loader.over(shelf.dataset)
                .arrays("labels")
                .transform("labels", refusing)
                .shuffle(3)
                .shard(Shard.of(rank, world).exact())
                .batchSize(10)
                .onFailure(FailurePolicy.skip(100));
    }

    @Test
    void ranksOfDifferentReceiptsAreNotOfOneRun() {
        List<LoaderState> states = IntStream.range(0, 2)
                .mapToObj(shift -> {
                    try (Loader loader = Loader.over(shelf.dataset)
                            .sampler(new Turned(shift))
                            .shard(shift, 2)
                            .batchSize(10)
                            .build()) {
                        return loader.epoch(0).iterator().next().stateAfter();
                    }
                })
                .toList();

        assertThatThrownBy(() -> LoaderState.merged(states)).hasMessageContaining("states of ranks differ");
    }
}
