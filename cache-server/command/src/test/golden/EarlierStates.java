import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.LoaderState;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Prints states of loaders, and the rows that each loader visited after its state; for make-store, by the API of commit 28531cac. */
class EarlierStates {
    private static final CountDownLatch taken = new CountDownLatch(2);
    private static boolean isFirst = true;

    public static void main(String[] args) {
        try (Larder larder = Larder.connect();
                Dataset steps = larder.dataset("steps")) {
            // first: the others take batches, too
            Transform late = new Transform(List.of()).mapRow(Dtype.parse("<i4"), new long[0], (row, result) -> {
                awaitTwoBatches();
                result.putInt(0, row.getInt(0));
            });
            print("any order", over(steps).shuffle(42).transform("x", late).threads(2).inAnyOrder(), 0, 2);
            double[] weights = new double[100];
            for (int row = 0; row < weights.length; row++) {
                weights[row] = row % 4;
            }
            print("sequential", over(steps), 0, 3);
            print("shuffle", over(steps).shuffle(42), 1, 5);
            print("permuted", over(steps).sampler(Sampler.permuted(7)), 0, 2);
            print("weighted", over(steps).sampler(Sampler.weighted(weights, 60, 5)), 2, 4);
        }
    }

    private static LoaderBuilder over(Dataset steps) {
        return Loader.over(steps).arrays("x").batch(8);
    }

    /** Holds the batch back that is begun first, until the loader has delivered two others. */
    private static void awaitTwoBatches() {
        boolean waits;
        synchronized (taken) {
            waits = isFirst;
            isFirst = false;
        }
        try {
            if (waits) {
                taken.await();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void print(String name, LoaderBuilder builder, long epoch, int batches) {
        LoaderState state = null;
        List<Long> rest = new ArrayList<>();
        try (Loader loader = builder.build()) {
            int count = 0;
            for (Batch batch : loader.epoch(epoch)) {
                if (++count == batches) {
                    state = batch.stateAfter();
                }
                for (long row : count > batches ? batch.rows() : new long[0]) {
                    rest.add(row);
                }
                taken.countDown();
            }
        }
        System.out.println(name + "\t" + state.toJson() + "\t" + rest.toString().replace(" ", ""));
    }
}
