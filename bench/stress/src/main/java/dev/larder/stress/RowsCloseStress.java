package dev.larder.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** One gathers rows while the other closes. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "an exception: it is closed")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the right values")
@Outcome(id = "2", expect = FORBIDDEN, desc = "other values")
@State
public class RowsCloseStress {
    private static final String DATASET = "d";
    private static final StressStore STORE = StressStore.create();
    private static final int NUMBER = (int) STORE.replace(DATASET, 4096);

    private final Dataset dataset = STORE.open(DATASET);
    private final ArrayView view = dataset.array(StressStore.ARRAY);
    private static final long[] ROWS =
            LongStream.range(0, 1024).map(row -> row * 3).toArray();

    private final UnsafeBuffer target = new UnsafeBuffer(new byte[ROWS.length * Integer.BYTES]);

    /** Closes the dataset. */
    @Actor
    public void close() {
        dataset.close();
    }

    /** Reads. */
    @Actor
    public void read(I_Result result) {
        try {
            view.copyRows(ROWS, target, 0);
            boolean isTrue = true;
            for (int row = 0; row < ROWS.length; row++) {
                isTrue &= target.getInt(row * Integer.BYTES) == NUMBER;
            }
            result.r1 = isTrue ? 1 : 2;
        } catch (IllegalStateException closed) {
            result.r1 = 0;
        }
    }
}
