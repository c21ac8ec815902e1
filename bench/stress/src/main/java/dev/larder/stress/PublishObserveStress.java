package dev.larder.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.larder.client.Dataset;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** One publishes and removes versions; the other resolves the newest, leases it, and reads all of it. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "whole, and what was newest before")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "whole, and published meanwhile")
@Outcome(id = "2", expect = FORBIDDEN, desc = "bytes of several versions, or of none")
@Outcome(id = "3", expect = FORBIDDEN, desc = "older than what was newest before")
@State
public class PublishObserveStress {
    private static final String DATASET = "d";
    private static final int INTEGERS = 4096; // with the header, five pages
    private static final StressStore STORE = StressStore.create();
    private static final AtomicLong NEWEST = new AtomicLong(STORE.replace(DATASET, INTEGERS));

    /** Publishes the next version. */
    @Actor
    public void publish() {
        long version = STORE.replace(DATASET, INTEGERS);
        NEWEST.accumulateAndGet(version, Math::max);
    }

    /** Opens and reads the newest version. */
    @Actor
    public void observe(I_Result result) {
        long newestBefore = NEWEST.get();
        try (Dataset dataset = STORE.open(DATASET)) {
            long version = dataset.version();
            if (!StressStore.isAll(dataset.array(StressStore.ARRAY), (int) version)) {
                result.r1 = 2;
            } else if (version < newestBefore) {
                result.r1 = 3;
            } else {
                result.r1 = version == newestBefore ? 0 : 1;
            }
        }
    }
}
