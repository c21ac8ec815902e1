package dev.larder.examples.distributed;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.distributed.ProcessGroup;
import dev.larder.distributed.ProcessGroups;
import dev.larder.distributed.ReduceOp;
import dev.larder.distributed.Span;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.Shard;
import dev.larder.npy.Dtype;
import java.util.Set;

/**
 * Trains a Fashion-MNIST classifier in several processes that update one parameter vector without locks, as in "Hogwild!" (Recht,
 * Ré, Wright and Niu, 2011). If two ranks add to one parameter at the same time, one addition may be lost; training still converges.
 *
 * <pre>
 * larder launch -n 4 -- java -cp … dev.larder.examples.distributed.HogwildTrainer --dataset fashion
 * </pre>
 */
public final class HogwildTrainer {
    private HogwildTrainer() {}

    /** Trains as the rank that the environment sets. */
    public static void main(String[] arguments) {
        Options options = Options.parse(
                "HogwildTrainer", arguments, Set.of("dataset", "epochs", "batch-size", "lr", "seed", "steps"));
        try (Larder larder = Larder.connect();
                Regions regions = Regions.of(larder);
                ProcessGroup group = ProcessGroups.init(regions);
                Dataset dataset = larder.dataset(options.text("dataset", "fashion"))) {
            ArrayView images = dataset.array("train-images");
            int pixels = Math.toIntExact(images.elementCount() / images.rows());
            SoftmaxGradient gradient = new SoftmaxGradient(pixels);
            String name = options.runName("parameters");
            try (SharedArray parameters =
                    SharedArray.openOrCreate(regions, name, Dtype.parse("<f4"), gradient.parameters())) {
                run(options, group, dataset, gradient, parameters);
            }
        } catch (LarderException e) {
            System.err.println("HogwildTrainer: " + e.getMessage());
            System.exit(e.code().number());
        }
    }

    private static void run(
            Options options, ProcessGroup group, Dataset dataset, SoftmaxGradient gradient, SharedArray parameters) {
        int batch = options.number("batch-size", 32);
        Work work = new Work(gradient, parameters);
        try (Loader train = loader(options, dataset, "train", batch, Shard.of(group.rank(), group.worldSize()));
                Loader test = loader(
                        options,
                        dataset,
                        "t10k",
                        batch,
                        Shard.of(group.rank(), group.worldSize()).exact())) {
            group.barrier();
            int steps = options.number("steps", Integer.MAX_VALUE);
            for (int epoch = 0; epoch < options.number("epochs", 1); epoch++) {
                for (Batch one : train.epoch(epoch)) {
                    if (one.number() == steps) {
                        break;
                    }
                    work.learn(one, options.real("lr", 0.02f));
                }
                Lines.print("rank %d epoch %d loss %.6f", group.rank(), epoch, work.meanLoss());
            }
            group.barrier(); // all ranks have stopped writing
            long[] counts = {0, 0};
            for (Batch one : test.epoch(0)) {
                counts[0] += work.measure(one);
                counts[1] += one.size();
            }
            group.allReduce(Span.of(counts), ReduceOp.SUM);
            if (group.rank() == 0) {
                Lines.print(
                        "ranks %d accuracy %.4f tested %d",
                        group.worldSize(), (double) counts[0] / counts[1], counts[1]);
            }
        }
    }

    private static Loader loader(Options options, Dataset dataset, String part, int batch, Shard shard) {
        return Loader.over(dataset)
                .arrays(part + "-images", part + "-labels")
                .shuffle(options.number("seed", 42))
                .shard(shard)
                .batchSize(batch)
                .build();
    }

    /** The work of one rank on the shared parameters. */
    private static final class Work {
        private final SoftmaxGradient gradient;
        private final SharedArray parameters;
        private final float[] seen;
        private double loss;
        private long samples;

        Work(SoftmaxGradient gradient, SharedArray parameters) {
            this.gradient = gradient;
            this.parameters = parameters;
            this.seen = new float[gradient.parameters()];
        }

        /** Computes a step from the current parameters, and adds it to them. Other ranks may change them in between. */
        void learn(Batch batch, float learningRate) {
            float[] slope = slope(batch);
            for (int k = 0; k < slope.length; k++) {
                slope[k] *= -learningRate;
            }
            parameters.addPlain(0, slope, 0, slope.length);
            loss += gradient.loss();
            samples += batch.size();
        }

        int measure(Batch batch) {
            slope(batch);
            return gradient.hits();
        }

        private float[] slope(Batch batch) {
            parameters.read(0, seen, 0, seen.length);
            return gradient.of(seen, batch);
        }

        double meanLoss() {
            double mean = loss / samples;
            loss = 0;
            samples = 0;
            return mean;
        }
    }
}
