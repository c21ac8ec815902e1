package dev.larder.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.larder.client.LeaseDoor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Files;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LZ_Result;

/** One thread leases a version while the other removes it unless it is leased. */
@JCStressTest
@Outcome(id = "NOT, true", expect = ACCEPTABLE, desc = "removed; no lease")
@Outcome(id = "WHOLE, false", expect = ACCEPTABLE, desc = "leased; not removed")
@Outcome(id = "WHOLE, true", expect = ACCEPTABLE, desc = "leased and given back; then removed")
@Outcome(id = "NOT, false", expect = FORBIDDEN, desc = "each was kept out by the other")
@Outcome(expect = FORBIDDEN, desc = "removed while leased")
@State
public class LeaseRemoveStress {
    private static final StressStore STORE = StressStore.create();

    private final PublishedVersion version = STORE.publish("d", 16);

    /** Leases, looks at the files, and gives back. */
    @Actor
    public void lease(LZ_Result result) {
        result.r1 = LeaseDoor.takeAndRelease(version.folder(), this::isWhole);
    }

    private boolean isWhole() {
        return Files.exists(version.folder().resolve(StoreLayout.INDEX))
                && Files.exists(version.folder().resolve(StressStore.FILE));
    }

    /** Removes unless it is leased. */
    @Actor
    public void remove(LZ_Result result) {
        result.r2 = STORE.remove(version);
    }

    /** Removes the version if it is left, so that the next has room. */
    @Arbiter
    public void end(LZ_Result result) {
        if (!result.r2) {
            STORE.remove(version);
        }
    }
}
