package dev.larder.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.larder.client.LeaseDoor;
import dev.larder.server.store.version.PublishedVersion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** When all leases were given back, the version can be removed. */
@JCStressTest
@Outcome(id = "true", expect = ACCEPTABLE, desc = "nothing holds it any more")
@Outcome(id = "false", expect = FORBIDDEN, desc = "a lease was left behind")
@State
public class LeaseLeftStress {
    private static final StressStore STORE = StressStore.create();

    private final PublishedVersion version = STORE.publish("d", 16);

    /** Leases and gives back, twice. */
    @Actor
    public void first() {
        lease();
        lease();
    }

    /** Leases and gives back, twice. */
    @Actor
    public void second() {
        lease();
        lease();
    }

    private void lease() {
        LeaseDoor.takeAndRelease(version.folder(), () -> true);
    }

    /** Removes the version. */
    @Arbiter
    public void end(Z_Result result) {
        result.r1 = STORE.remove(version);
    }
}
