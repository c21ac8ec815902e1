package dev.larder.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.larder.client.LeaseDoor;
import dev.larder.server.store.version.PublishedVersion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Two threads of a process lease one version and give it back; both have it while they do. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "both were protected")
@Outcome(expect = FORBIDDEN, desc = "one was not")
@State
public class LeaseShareStress {
    private static final StressStore STORE = StressStore.create();
    private static final PublishedVersion VERSION = STORE.publish("d", 16);

    /** Leases and gives back. */
    @Actor
    public void first(ZZ_Result result) {
        result.r1 = isProtected();
    }

    /** Leases and gives back. */
    @Actor
    public void second(ZZ_Result result) {
        result.r2 = isProtected();
    }

    private static boolean isProtected() {
        return LeaseDoor.takeAndRelease(VERSION.folder(), () -> STORE.isLeased(VERSION)) == LeaseDoor.Taken.WHOLE;
    }
}
