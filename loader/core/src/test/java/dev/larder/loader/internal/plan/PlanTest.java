package dev.larder.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.Receipt;
import dev.larder.loader.sample.BatchOrder;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Plans, number by number: over 10 samples in order, and over batches of 3, 1 and 2 samples with the rows 10 to 15. */
class PlanTest {
    private static final long ROWS = 10;
    private static final long[] FIRSTS = {0, 3, 4, 6};
    private static final BatchOrder THREE_BATCHES = new BatchOrder() {
        @Override
        public long batches() {
            return 3;
        }

        @Override
        public long first(long batch) {
            return FIRSTS[(int) batch];
        }

        @Override
        public long row(long position) {
            return 10 + position;
        }
    };

    private static EpochPlanner samples(int batchSize, LastBatch last, boolean isResumedWhole, Shard shard) {
        return new EpochPlanner.OfSamples(
                Sampler.sequential(), new SamplePlan.Batching(batchSize, last, isResumedWhole, shard));
    }

    private static Plan whole(int batchSize, LastBatch last, Shard shard) {
        return samples(batchSize, last, false, shard).whole(ROWS, 0);
    }

    private static EpochPlanner batches(Shard shard, boolean isPadded) {
        return new EpochPlanner.OfBatches((rows, epoch) -> THREE_BATCHES, shard, isPadded);
    }

    private static HostSlot slot(Plan plan, long number) {
        HostSlot slot = HostSlot.withoutMemory();
        slot.size = 1; // of an earlier batch
        slot.number = number;
        plan.fill(slot);
        return slot;
    }

    private static String filled(Plan plan, long number) {
        HostSlot slot = slot(plan, number);
        return Arrays.toString(Arrays.copyOf(slot.positions, slot.size)) + " "
                + Arrays.toString(Arrays.copyOf(slot.rows, slot.size)) + " valid=" + slot.valid + " counted="
                + slot.counted + " consumed=" + slot.consumed;
    }

    private static String sizes(Plan plan) {
        return "batches=" + plan.batches() + " samples=" + plan.samples() + " length=" + plan.length();
    }

    @Test
    void theLastBatchOfSamplesIsShort() {
        Plan plan = whole(4, LastBatch.SHORT, Shard.whole());

        assertThat(sizes(plan)).isEqualTo("batches=3 samples=10 length=10");
        assertThat(filled(plan, 0)).isEqualTo("[0, 1, 2, 3] [0, 1, 2, 3] valid=4 counted=4 consumed=4");
        assertThat(filled(plan, 2)).isEqualTo("[8, 9] [8, 9] valid=2 counted=2 consumed=10");
    }

    @Test
    void theLastBatchOfSamplesIsDropped() {
        Plan plan = whole(4, LastBatch.DROP, Shard.whole());

        assertThat(sizes(plan)).isEqualTo("batches=2 samples=8 length=8");
        assertThat(filled(plan, 1)).isEqualTo("[4, 5, 6, 7] [4, 5, 6, 7] valid=4 counted=4 consumed=8");
    }

    @Test
    void theLastBatchOfSamplesIsFilledFromTheStart() {
        Plan plan = whole(4, LastBatch.PAD, Shard.whole());

        assertThat(sizes(plan)).isEqualTo("batches=3 samples=12 length=10");
        assertThat(filled(plan, 2)).isEqualTo("[8, 9, 10, 11] [8, 9, 0, 1] valid=2 counted=2 consumed=10");
    }

    @Test
    void ranksTakeSamplesInTurnAndRepeatTheFirstOnes() {
        Plan plan = whole(2, LastBatch.SHORT, Shard.of(2, 3));

        assertThat(sizes(plan)).isEqualTo("batches=2 samples=4 length=12");
        assertThat(filled(plan, 0)).isEqualTo("[2, 5] [2, 5] valid=2 counted=2 consumed=6");
        assertThat(filled(plan, 1)).isEqualTo("[8, 11] [8, 1] valid=1 counted=2 consumed=12");
        assertThat(filled(whole(2, LastBatch.SHORT, Shard.of(1, 3)), 1))
                .isEqualTo("[7, 10] [7, 0] valid=1 counted=2 consumed=12");
    }

    @Test
    void ranksTakeEverySampleOnce() {
        Plan plan = whole(2, LastBatch.SHORT, Shard.of(2, 3).exact());

        assertThat(sizes(plan)).isEqualTo("batches=2 samples=3 length=10");
        assertThat(filled(plan, 1)).isEqualTo("[8] [8] valid=1 counted=1 consumed=10");
        assertThat(filled(whole(1, LastBatch.SHORT, Shard.of(2, 3).exact()), 3))
                .isEqualTo("[] [] valid=0 counted=0 consumed=10");
    }

    @Test
    void ranksLeaveOutSamplesThatDoNotDivide() {
        assertThat(sizes(whole(2, LastBatch.SHORT, Shard.of(1, 3).dropLast())))
                .isEqualTo("batches=2 samples=3 length=9");
        assertThat(sizes(whole(2, LastBatch.DROP, Shard.of(1, 3)))).isEqualTo("batches=2 samples=4 length=12");
        assertThat(sizes(whole(3, LastBatch.DROP, Shard.of(1, 3)))).isEqualTo("batches=1 samples=3 length=9");
    }

    @Test
    void aSampleThatFillsTheLastBatchIsNotValidEvenIfNoRankVisitsIt() {
        Plan plan = whole(2, LastBatch.PAD, Shard.of(0, 3).dropLast());

        assertThat(filled(plan, 1)).isEqualTo("[6, 9] [6, 9] valid=1 counted=1 consumed=9");
    }

    @Test
    void theRestOfAnEpochIsVisitedOrLeftOut() {
        Plan short3 = samples(4, LastBatch.SHORT, false, Shard.whole()).rest(ROWS, 0, null, 3, 10);
        Plan drop3 = samples(4, LastBatch.DROP, false, Shard.whole()).rest(ROWS, 0, null, 3, 10);
        Plan drop6 = samples(4, LastBatch.DROP, false, Shard.whole()).rest(ROWS, 0, null, 6, 10);
        Plan all3 = samples(4, LastBatch.DROP, true, Shard.whole()).rest(ROWS, 0, null, 3, 10);
        Plan ranks4 =
                samples(4, LastBatch.SHORT, false, Shard.of(1, 4).dropLast()).rest(ROWS, 0, null, 4, 10);

        assertThat(sizes(short3)).isEqualTo("batches=2 samples=7 length=10");
        assertThat(filled(short3, 0)).isEqualTo("[3, 4, 5, 6] [3, 4, 5, 6] valid=4 counted=4 consumed=7");
        assertThat(sizes(drop3)).isEqualTo("batches=1 samples=4 length=7");
        assertThat(sizes(drop6)).isEqualTo("batches=1 samples=4 length=10");
        assertThat(sizes(all3)).isEqualTo("batches=2 samples=7 length=10");
        assertThat(filled(ranks4, 0)).isEqualTo("[5, 9] [5, 9] valid=2 counted=2 consumed=10");
    }

    @Test
    void samplesThatWerePassedOverComeFirst() {
        Plan plan =
                samples(2, LastBatch.SHORT, false, Shard.whole()).rest(ROWS, 0, Rest.of(new long[] {1, 4}, 7), 5, 10);

        assertThat(sizes(plan)).isEqualTo("batches=3 samples=5 length=10");
        assertThat(filled(plan, 0)).isEqualTo("[1, 4] [1, 4] valid=2 counted=2 consumed=7");
        assertThat(filled(plan, 1)).isEqualTo("[7, 8] [7, 8] valid=2 counted=2 consumed=9");
        assertThat(plan.receiptOfOrder()).isEqualTo(new Receipt(terms(0, 0, 2, 3, 5, 6), 0));
    }

    @Test
    void wholeBatchesKeepTheirSizes() {
        Plan plan = batches(Shard.whole(), false).whole(ROWS, 0);

        assertThat(sizes(plan)).isEqualTo("batches=3 samples=6 length=6");
        assertThat(filled(plan, 0)).isEqualTo("[0, 1, 2] [10, 11, 12] valid=3 counted=3 consumed=3");
        assertThat(filled(plan, 1)).isEqualTo("[3] [13] valid=1 counted=1 consumed=4");
        assertThat(filled(plan, 2)).isEqualTo("[4, 5] [14, 15] valid=2 counted=2 consumed=6");
    }

    @Test
    void ranksTakeWholeBatchesInTurnAndRepeatTheFirstOnes() {
        Plan first = batches(Shard.of(0, 2), false).whole(ROWS, 0);
        Plan second = batches(Shard.of(1, 2), false).whole(ROWS, 0);

        assertThat(sizes(first)).isEqualTo("batches=2 samples=5 length=9");
        assertThat(sizes(second)).isEqualTo("batches=2 samples=4 length=9");
        assertThat(filled(second, 0)).isEqualTo("[3] [13] valid=1 counted=1 consumed=4");
        assertThat(filled(second, 1)).isEqualTo("[6, 7, 8] [10, 11, 12] valid=0 counted=3 consumed=9");
        assertThat(sizes(batches(Shard.of(1, 2).dropLast(), false).whole(ROWS, 0)))
                .isEqualTo("batches=1 samples=1 length=4");
    }

    @Test
    void aRankWithoutABatchHasAnEmptyOneOrOneThatDoesNotCount() {
        Plan empty = batches(Shard.of(1, 2).exact(), false).whole(ROWS, 0);
        Plan padded = batches(Shard.of(1, 2).exact(), true).whole(ROWS, 0);

        assertThat(sizes(empty)).isEqualTo("batches=2 samples=1 length=6");
        assertThat(filled(empty, 1)).isEqualTo("[] [] valid=0 counted=0 consumed=6");
        assertThat(sizes(padded)).isEqualTo("batches=2 samples=4 length=6");
        assertThat(filled(padded, 1)).isEqualTo("[6, 7, 8] [10, 11, 12] valid=0 counted=0 consumed=6");
    }

    @Test
    void theRestOfWholeBatchesBeginsWithABatch() {
        EpochPlanner planner = batches(Shard.whole(), false);

        Plan rest = planner.rest(ROWS, 0, null, 4, 6);
        Plan ended = planner.rest(ROWS, 0, null, 6, 6);
        Plan again = batches(Shard.of(1, 2), false).rest(ROWS, 0, null, 4, 9);

        assertThat(filled(rest, 0)).isEqualTo("[4, 5] [14, 15] valid=2 counted=2 consumed=6");
        assertThat(sizes(ended)).isEqualTo("batches=0 samples=0 length=6");
        assertThat(filled(again, 0)).isEqualTo("[6, 7, 8] [10, 11, 12] valid=0 counted=3 consumed=9");
        assertThatThrownBy(() -> planner.rest(ROWS, 7, null, 2, 6))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("no batch begins at this position of the epoch: epoch=7 sample=2");
    }

    @Test
    void wholeBatchesThatWerePassedOverComeFirst() {
        Plan plan = batches(Shard.whole(), false).rest(ROWS, 0, Rest.of(new long[] {0, 1}, 2), 0, 6);

        assertThat(filled(plan, 0)).isEqualTo("[0, 1, 2] [10, 11, 12] valid=3 counted=3 consumed=3");
        assertThat(filled(plan, 1)).isEqualTo("[3] [13] valid=1 counted=1 consumed=4");
        assertThat(plan.receiptOfOrder()).isEqualTo(Receipt.NONE);
        assertThat(batches(Shard.whole(), false)
                        .rest(ROWS, 0, Rest.of(new long[] {0}, 2), 1, 6)
                        .receiptOfOrder())
                .isEqualTo(new Receipt(terms(10, 3), 0));
    }

    /** Returns the sum of the terms of samples at these positions, whose rows are so much larger. */
    private static long terms(long rowsAhead, long... positions) {
        return LongStream.of(positions)
                .map(position -> Receipt.term(position, position + rowsAhead))
                .sum();
    }

    @Test
    void aReceiptCountsTheSamplesOfAllRanksWithoutPadding() {
        Receipt start = new Receipt(1000, 1);
        Plan first = whole(2, LastBatch.SHORT, Shard.of(0, 3));
        Plan third = whole(2, LastBatch.SHORT, Shard.of(2, 3));
        first.continueReceipt(new Receipt(100, 5));
        third.continueReceipt(new Receipt(100, 5));

        HostSlot half = slot(third, 0);
        half.takenSkippedTerms = 7;
        assertThat(third.receipt(half, true, start)).isEqualTo(new Receipt(1100 + terms(0, 0, 1, 2, 3, 4, 5), 7));
        assertThat(first.receipt(half, true, start)).isEqualTo(new Receipt(1100 + terms(0, 0, 1, 2, 3, 4, 5), 13));
        long all = terms(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(first.receipt(slot(first, 1), true, start)).isEqualTo(new Receipt(1100 + all, 6));
        assertThat(first.receipt(half, true, start))
                .as("of a batch before")
                .isEqualTo(new Receipt(1100 + terms(0, 0, 1, 2, 3, 4, 5), 13));
        first.continueReceipt(null);
        assertThat(first.receipt(half, true, start)).isNull();
    }

    @Test
    void aReceiptOfWholeBatchesCountsNoBatchTwice() {
        Plan plan = batches(Shard.of(0, 2), false).whole(ROWS, 0);

        assertThat(plan.receipt(slot(plan, 0), true, Receipt.NONE)).isEqualTo(new Receipt(terms(10, 0, 1, 2, 3), 0));
        assertThat(plan.receipt(slot(plan, 1), true, Receipt.NONE))
                .isEqualTo(new Receipt(terms(10, 0, 1, 2, 3, 4, 5), 0));
    }

    @Test
    void inAnyOrderAReceiptCountsTheBatchesOfARank() {
        Plan second = whole(2, LastBatch.SHORT, Shard.of(1, 2));
        HostSlot slot = slot(second, 2);
        slot.taken = 3;
        slot.takenSamples = 3;
        slot.missing = new long[] {1};
        slot.missingCount = 1;

        assertThat(second.receipt(slot, false, new Receipt(1000, 1))).isEqualTo(new Receipt(terms(0, 1, 3, 9), 0));
        assertThat(second.consumed(slot, false)).isEqualTo(3);
        assertThat(second.consumed(slot, true)).isEqualTo(slot.consumed).isEqualTo(10);
        assertThat(second.progress(slot, false))
                .isEqualTo("left= reached=0 before=0 rank=1 world=2 batch=2 taken=3 missing=1");
        assertThat(second.progress(slot, true)).isEmpty();
    }

    @Test
    void inAnyOrderAReceiptDoesNotCountSamplesThatFillTheLastBatch() {
        Plan second =
                samples(2, LastBatch.PAD, false, Shard.of(1, 3).dropLast()).whole(11, 0);
        HostSlot slot = slot(second, 1);
        slot.taken = 2;

        assertThat(filled(second, 1)).startsWith("[7, 10] [7, 10] valid=1");
        assertThat(second.receipt(slot, false, Receipt.NONE)).isEqualTo(new Receipt(terms(0, 1, 4, 7), 0));
    }

    @Test
    void theOnlyRankListsWhatIsLeft() {
        Plan plan = samples(2, LastBatch.SHORT, false, Shard.whole())
                .rest(ROWS, 0, Rest.of(new long[] {1, 2, 4}, 7), 4, 10);
        HostSlot slot = slot(plan, 0);
        slot.taken = 1;
        slot.takenSamples = 2;

        assertThat(plan.progress(slot, true)).isEqualTo("left=4 reached=7");
        assertThat(plan.progress(slot, false)).isEqualTo("left=4 reached=7");
        assertThat(plan.consumed(slot, false)).isEqualTo(6);
        slot.taken = 0;
        assertThat(plan.progress(slot, false)).isEqualTo("left=1,2,4 reached=7");
    }

    @Test
    void anOrderIsThereUntilItIsReleased() {
        for (Plan plan : new Plan[] {
            whole(4, LastBatch.SHORT, Shard.whole()),
            batches(Shard.whole(), false).whole(ROWS, 8)
        }) {
            HostSlot slot = slot(plan, 0);
            assertThat(plan.order()).isNotNull();

            plan.release();

            assertThat(plan.order()).isNull();
            assertThatThrownBy(() -> plan.fill(slot)).hasMessage("epoch has ended: epoch=" + plan.epoch());
            assertThat(plan.receipt(slot, true, Receipt.NONE)).isNotNull().isNotEqualTo(Receipt.NONE);
        }
    }

    @Test
    void aBatchThatHasEndedIsNotFilled() {
        HostSlot slot = HostSlot.withoutMemory();
        slot.ended = true;

        assertThatThrownBy(() -> whole(4, LastBatch.SHORT, Shard.whole()).fill(slot))
                .hasMessage("the batch has ended");
        assertThatThrownBy(() -> batches(Shard.whole(), false).whole(ROWS, 0).fill(slot))
                .hasMessage("the batch has ended");
    }

    @Test
    void skippedSamplesAreCounted() {
        Plan plan = whole(4, LastBatch.SHORT, Shard.whole());

        assertThat(LongStream.generate(plan::skip).limit(2).toArray()).containsExactly(1, 2);
    }

    @Test
    void onlyOrdersOfSamplersOfOurOwnAreKnownNotToRunUserCode() {
        assertThat(samples(1, LastBatch.SHORT, false, Shard.whole()).runsUserCode())
                .isFalse();
        assertThat(batches(Shard.whole(), false).runsUserCode()).isTrue();
        assertThat(fixedBatches(Sampler.random(1)).runsUserCode()).isFalse();
        assertThat(fixedBatches((rows, epoch) -> Sampler.sequential().order(rows, epoch))
                        .runsUserCode())
                .isTrue();
    }

    @Test
    void onlyAnOrderThatIsComputedFirstTakesHeap() {
        EpochPlanner random = new EpochPlanner.OfSamples(
                Sampler.random(1), new SamplePlan.Batching(1, LastBatch.SHORT, false, Shard.whole()));

        assertThat(random.heapBytes(1000)).isEqualTo(4000);
        assertThat(fixedBatches(Sampler.random(1)).heapBytes(1000)).isEqualTo(4000);
        assertThat(batches(Shard.whole(), false).heapBytes(1000)).isZero();
    }

    private static EpochPlanner fixedBatches(Sampler sampler) {
        return new EpochPlanner.OfBatches(BatchSampler.of(sampler, 5, true), Shard.whole(), false);
    }
}
