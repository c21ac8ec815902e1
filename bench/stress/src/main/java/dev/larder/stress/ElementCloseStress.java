package dev.larder.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** One reads an element while the other closes. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "an exception: it is closed")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the right values")
@Outcome(id = "2", expect = FORBIDDEN, desc = "other values")
@State
public class ElementCloseStress {
    private static final String DATASET = "d";
    private static final StressStore STORE = StressStore.create();
    private static final int NUMBER = (int) STORE.replace(DATASET, 4096);

    private final Dataset dataset = STORE.open(DATASET);
    private final ArrayView view = dataset.array(StressStore.ARRAY);

    /** Closes the dataset. */
    @Actor
    public void close() {
        dataset.close();
    }

    /** Reads. */
    @Actor
    public void read(I_Result result) {
        try {
            result.r1 = view.getInt(4095) == NUMBER ? 1 : 2;
        } catch (IllegalStateException closed) {
            result.r1 = 0;
        }
    }
}
