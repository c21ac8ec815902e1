package dev.larder.loader.internal.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.plan.EpochPlanner;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.plan.SamplePlan;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PlanQueueTest {
    private static final EpochPlanner PLANNER = new EpochPlanner.OfSamples(
            Sampler.sequential(), new SamplePlan.Batching(10, LastBatch.SHORT, false, Shard.whole()));

    private final StoreFixture store = StoreFixture.create();
    private final PlanQueue plans = new PlanQueue();
    private final NextSample place = new NextSample();
    private final Plan oneBatch = PLANNER.rest(100, 0, null, 90, 100);
    private final Plan tenBatches = PLANNER.whole(100, 1);
    private final Plan other = PLANNER.whole(100, 2);
    private Larder larder;
    private Dataset dataset;
    private LoaderSource source;

    @BeforeEach
    void open() {
        store.publish("d", Map.of("rows", FixtureArray.of("|u1", Order.C, new byte[100], 100)));
        larder = Larder.connect(store.store());
        dataset = larder.dataset("d");
        SourceData data = new SourceData(List.of(dataset), SourceData.Joins.ZIP, null);
        source = LoaderSource.of(data, List.of(), null, 0, Duration.ofMinutes(1), null);
    }

    @AfterEach
    void close() {
        dataset.close();
        larder.close();
        store.close();
    }

    private RingSlot begun(long turn) {
        RingSlot slot = new RingSlot(source, 10, HostMemory::allocate);
        plans.begin(slot, turn);
        return slot;
    }

    @Test
    void afterTheLastBatchOfAPlanTheNextSampleIsTheFirstOfTheFollowingPlan() {
        plans.start(oneBatch);
        plans.follow(oneBatch, tenBatches);
        begun(0);

        place.find(plans, List.of());

        assertThat(place.plan).isSameAs(tenBatches);
        assertThat(place.batch).isZero();
    }

    @Test
    void batchesOfTheFollowingPlanBeginAfterThoseOfTheRunningOne() {
        plans.start(oneBatch);
        assertThat(plans.unbegun()).isEqualTo(1);
        assertThat(plans.follow(oneBatch, tenBatches)).isTrue();
        assertThat(plans.unbegun()).isEqualTo(11);

        RingSlot last = begun(5);
        assertThat(last.plan()).isSameAs(oneBatch);
        assertThat(last.turn).isEqualTo(5);
        assertThat(plans.filling()).isSameAs(tenBatches);
        assertThat(plans.nextBatch()).isZero();
        assertThat(plans.unbegun()).isEqualTo(10);

        RingSlot first = begun(6);
        assertThat(first.plan()).isSameAs(tenBatches);
        assertThat(first.number).isZero();
        assertThat(plans.filling()).isSameAs(tenBatches);
        assertThat(plans.nextBatch()).isEqualTo(1);
        assertThat(plans.unbegun()).isEqualTo(9);
    }

    @Test
    void onePlanFollowsTheRunningOne() {
        plans.start(oneBatch);

        assertThat(plans.follow(tenBatches, other)).isFalse();
        assertThat(plans.following()).isNull();
        assertThat(plans.follow(oneBatch, tenBatches)).isTrue();
        assertThat(plans.follow(oneBatch, other)).isFalse();
        assertThat(plans.following()).isSameAs(tenBatches);
        plans.advance();
        assertThat(plans.running()).isSameAs(tenBatches);
        assertThat(plans.following()).isNull();
    }

    @Test
    void aPlanThatEndsEarlyMakesRoomForTheFollowingOne() {
        plans.start(tenBatches);
        plans.follow(tenBatches, other);
        begun(0);

        assertThat(plans.endRunning()).as("all were begun").isFalse();

        assertThat(plans.running()).isNull();
        assertThat(plans.filling()).isSameAs(other);
        assertThat(plans.unbegun()).isEqualTo(10);
        assertThat(begun(1).number).isZero();
    }

    @Test
    void aPlanWhoseBatchesWereAllBegunEndsWithoutChangeToTheFollowingOne() {
        plans.start(oneBatch);
        plans.follow(oneBatch, tenBatches);
        begun(0);
        begun(1);

        assertThat(plans.endRunning()).isTrue();

        assertThat(plans.nextBatch()).isEqualTo(1);
        assertThat(begun(2).number).isEqualTo(1);
        plans.endFollowing();
        assertThat(plans.following()).isNull();
        assertThat(plans.filling()).isNull();
        assertThat(plans.unbegun()).isZero();
    }

    @Test
    void theOnlyPlanEndsAsBegunIfItIs() {
        plans.start(oneBatch);
        begun(0);

        assertThat(plans.endRunning()).isTrue();
        assertThat(plans.filling()).isNull();
    }

    @Test
    void noBatchBeginsAfterAFailedOne() {
        plans.start(tenBatches);
        RingSlot first = begun(0);
        RingSlot second = begun(1);
        plans.endAfter(new RingSlot(source, 10, HostMemory::allocate));
        assertThat(plans.unbegun()).isEqualTo(8);

        plans.endAfter(second);
        assertThat(plans.unbegun()).isZero();

        plans.endAfter(first);
        assertThat(plans.unbegun()).isZero();
    }

    @Test
    void theNextSampleIsTheFirstUnclaimedOneOfTheEarliestBatch() {
        plans.start(tenBatches);
        List<RingSlot> slots = List.of(begun(0), begun(1), begun(2));
        slots.forEach(slot -> {
            slot.planned = true;
            slot.size = 10;
        });
        slots.get(0).unclaimed = 10;
        slots.get(1).unclaimed = 4;

        place.find(plans, slots);
        assertThat(List.of(place.batch, (long) place.sample)).containsExactly(1L, 4L);

        slots.get(1).ready = true;
        place.find(plans, slots);
        assertThat(List.of(place.batch, (long) place.sample)).containsExactly(2L, 0L);

        slots.get(2).abandoned = true;
        place.find(plans, slots);
        assertThat(List.of(place.batch, (long) place.sample)).containsExactly(3L, 0L);

        slots.get(0).planned = false;
        slots.get(0).unclaimed = 0;
        place.find(plans, slots);
        assertThat(List.of(place.batch, (long) place.sample)).containsExactly(0L, 0L);
    }
}
