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
import org.junit.jupiter.api.Test;

class PlanQueueTest {
    private static final EpochPlanner PLANNER = new EpochPlanner.OfSamples(
            Sampler.sequential(), new SamplePlan.Batching(10, LastBatch.SHORT, false, Shard.whole()));

    private final StoreFixture store = StoreFixture.create();
    private final PlanQueue plans = new PlanQueue();
    private final NextSample place = new NextSample();

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void afterTheLastBatchOfAPlanTheNextSampleIsTheFirstOfTheFollowingPlan() {
        store.publish("d", Map.of("rows", FixtureArray.of("|u1", Order.C, new byte[100], 100)));
        Plan running = PLANNER.rest(100, 0, null, 90, 100);
        Plan following = PLANNER.whole(100, 1);
        plans.start(running);
        plans.follow(running, following);
        try (Larder larder = Larder.connect(store.store());
                Dataset dataset = larder.dataset("d")) {
            SourceData data = new SourceData(List.of(dataset), SourceData.Joins.ZIP, null);
            LoaderSource source = LoaderSource.of(data, List.of(), null, 0, Duration.ofMinutes(1), null);
            plans.begin(new RingSlot(source, 10, HostMemory::allocate), 0);

            place.find(plans, List.of());

            assertThat(place.plan).isSameAs(following);
            assertThat(place.batch).isZero();
        }
    }
}
