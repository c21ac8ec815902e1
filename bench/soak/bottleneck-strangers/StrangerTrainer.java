import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.transform.Transform;
import java.nio.file.Path;

/** A trainer in Java: {@code StrangerTrainer STORE SECONDS FUNCTION_MILLIS STEP_MILLIS CHANGE_SECONDS}; a change swaps both times. */
public final class StrangerTrainer {
    private static volatile int functionMillis;
    private static volatile int stepMillis;

    public static void main(String[] args) throws Exception {
        long begin = System.nanoTime();
        functionMillis = Integer.parseInt(args[2]);
        stepMillis = Integer.parseInt(args[3]);
        double change = Double.parseDouble(args[4]);
        try (Larder larder = Larder.connect(Path.of(args[0]));
                Dataset dataset = larder.dataset("small");
                Loader loader = Loader.over(dataset)
                        .arrays("x", "y")
                        .transform("x", new Transform().toFloat().map((values, shape, random) -> sleep(functionMillis / 16)))
                        .shuffle(1)
                        .batchSize(16)
                        .threads(1)
                        .build()) {
            System.out.println("begin");
            boolean ready = false;
            for (int epoch = 0; ; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    if (!ready) {
                        System.out.println("ready");
                        ready = true;
                    }
                    sleep(stepMillis);
                    double seconds = (System.nanoTime() - begin) / 1e9;
                    if (change > 0 && seconds > change) {
                        int former = functionMillis;
                        functionMillis = stepMillis;
                        stepMillis = former;
                        change = 0;
                        System.out.println("changed");
                    }
                    if (seconds > Double.parseDouble(args[1])) {
                        return;
                    }
                }
            }
        }
    }

    private static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
