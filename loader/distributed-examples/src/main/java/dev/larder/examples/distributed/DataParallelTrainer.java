package dev.larder.examples.distributed;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.distributed.ProcessGroup;
import dev.larder.distributed.ProcessGroups;
import dev.larder.distributed.ReduceOp;
import dev.larder.distributed.Span;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.Shard;
import java.util.Random;
import java.util.Set;

/**
 * Trains a Fashion-MNIST classifier in several processes, like PyTorch's tutorial on distributed training. Each rank reads its part
 * of every epoch; gradients are averaged over all ranks, so every rank makes the same step.
 *
 * <pre>
 * larder launch -n 4 -- java -cp … dev.larder.examples.distributed.DataParallelTrainer --dataset fashion --batch-size 64
 * </pre>
 *
 * <p>{@code --batch-size} is the batch size of all ranks together: one rank learns the same as four, except for rounding. Prints one line
 * per rank and epoch; rank 0 then prints the result.
 */
public final class DataParallelTrainer {
    private final Options options;

    private DataParallelTrainer(Options options) {
        this.options = options;
    }

    /** Trains as the rank that the environment sets. */
    public static void main(String[] arguments) {
        Options options = Options.parse(
                "DataParallelTrainer", arguments, Set.of("dataset", "epochs", "batch-size", "lr", "seed", "steps"));
        try {
            new DataParallelTrainer(options).run();
        } catch (LarderException e) {
            System.err.println("DataParallelTrainer: " + e.getMessage());
            System.exit(e.code().number());
        }
    }

    private void run() {
        try (Larder larder = Larder.connect();
                Regions regions = Regions.of(larder);
                ProcessGroup group = ProcessGroups.init(regions);
                Dataset dataset = larder.dataset(options.text("dataset", "fashion"))) {
            int batch = options.number("batch-size", 64) / group.worldSize();
            try (Loader train = training(dataset, batch, group);
                    Loader test = evaluation(dataset, batch, group)) {
                ArrayView images = dataset.array("train-images");
                train(group, train, test, Math.toIntExact(images.elementCount() / images.rows()));
            }
        }
    }

    private Loader training(Dataset dataset, int batch, ProcessGroup group) {
        return Loader.over(dataset)
                .arrays("train-images", "train-labels")
                .shuffle(options.number("seed", 42))
                .shard(group.rank(), group.worldSize())
                .batchSize(batch)
                .dropLast(true)
                .build();
    }

    /** Builds a loader that passes each test sample to exactly one rank. */
    private static Loader evaluation(Dataset dataset, int batch, ProcessGroup group) {
        return Loader.over(dataset)
                .arrays("t10k-images", "t10k-labels")
                .shard(Shard.of(group.rank(), group.worldSize()).exact())
                .batchSize(batch)
                .build();
    }

    private void train(ProcessGroup group, Loader train, Loader test, int pixels) {
        Learner learner = new Learner(group, pixels);
        learner.begin(options.number("seed", 42));
        int steps = options.number("steps", Integer.MAX_VALUE);
        for (int epoch = 0; epoch < options.number("epochs", 2); epoch++) {
            double loss = 0;
            long seen = 0;
            for (Batch batch : train.epoch(epoch)) {
                if (batch.number() == steps) {
                    break;
                }
                loss += learner.learn(batch, options.real("lr", 0.05f));
                seen += batch.size();
            }
            Lines.print("rank %d epoch %d loss %.6f", group.rank(), epoch, loss / seen);
        }
        long[] tested = learner.test(test.epoch(0));
        if (group.rank() == 0) {
            Lines.print(
                    "ranks %d accuracy %.4f parameters %.6f tested %d",
                    group.worldSize(), (double) tested[0] / tested[1], learner.lengthOfParameters(), tested[1]);
        }
    }

    /** The parameters, equal on all ranks, and their updates. */
    private static final class Learner {
        private final ProcessGroup group;
        private final SoftmaxGradient gradient;
        private final float[] parameters;

        Learner(ProcessGroup group, int pixels) {
            this.group = group;
            this.gradient = new SoftmaxGradient(pixels);
            this.parameters = new float[gradient.parameters()];
        }

        /** Copies the initial parameters of rank 0 to all ranks. */
        void begin(long seed) {
            Random random = new Random(seed + group.rank()); // only rank 0's values are used
            for (int k = 0; k < parameters.length; k++) {
                parameters[k] = (float) (0.01 * random.nextGaussian());
            }
            group.broadcast(Span.of(parameters), 0);
        }

        /** Makes one step together with all ranks, and returns the sum of this rank's losses. */
        double learn(Batch batch, float learningRate) {
            float[] slope = gradient.of(parameters, batch);
            group.allReduce(Span.of(slope), ReduceOp.AVG);
            for (int k = 0; k < parameters.length; k++) {
                parameters[k] -= learningRate * slope[k];
            }
            return gradient.loss();
        }

        /** Returns the numbers of correctly classified and of tested samples, over all ranks. */
        long[] test(Epoch epoch) {
            long[] counts = new long[2];
            for (Batch batch : epoch) {
                var unused = gradient.of(parameters, batch);
                counts[0] += gradient.hits();
                counts[1] += batch.size();
            }
            group.allReduce(Span.of(counts), ReduceOp.SUM);
            return counts;
        }

        /** Returns the Euclidean norm of the parameters, to compare two runs. */
        double lengthOfParameters() {
            double sum = 0;
            for (float parameter : parameters) {
                sum += (double) parameter * parameter;
            }
            return Math.sqrt(sum);
        }
    }
}
