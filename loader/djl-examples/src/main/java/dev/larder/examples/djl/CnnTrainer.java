package dev.larder.examples.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.TrainingResult;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.translate.TranslateException;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.djl.LarderDataset;
import dev.larder.error.LarderException;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.transform.Transform;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/**
 * Trains a small convolutional network on Fashion-MNIST from the cache. The loader makes normalised batches; DJL's {@link EasyTrain}
 * and its PyTorch engine do the rest.
 *
 * <p>Prints one line per epoch, then one with the result as JSON. Uses the exit codes of the {@code larder} command.
 */
public final class CnnTrainer {
    private static final int CLASSES = 10;
    private static final float MEAN = 0.286f;
    private static final float DEVIATION = 0.353f;

    private final CnnOptions options;
    private final PrintStream out;

    CnnTrainer(CnnOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    /** Trains with the options of the command line. */
    public static void main(String[] arguments) throws IOException, TranslateException {
        CnnOptions options;
        try {
            options = CnnOptions.parse(List.of(arguments));
        } catch (IllegalArgumentException e) {
            System.err.println("CnnTrainer: " + e.getMessage());
            System.err.print(CnnOptions.USAGE);
            System.exit(2);
            return;
        }
        try {
            new CnnTrainer(options, System.out).run();
        } catch (LarderException e) {
            System.err.println("CnnTrainer: " + e.getMessage());
            System.exit(e.code().number());
        }
    }

    private void run() throws IOException, TranslateException {
        long start = System.nanoTime();
        Engine.getEngine("PyTorch").setRandomSeed(options.seed());
        try (Larder larder = options.store() == null ? Larder.connect() : Larder.connect(options.store());
                Dataset dataset = larder.dataset(options.dataset());
                Loader train = loader(dataset, "train").shuffle(options.seed()).build();
                Loader test = loader(dataset, "t10k").build();
                Model model = Model.newInstance("cnn", Device.cpu(), "PyTorch")) {
            model.setBlock(network());
            long steps = options.epochs() * ((train.rows() + options.batch() - 1) / options.batch());
            try (Trainer trainer = model.newTrainer(training(steps))) {
                trainer.setMetrics(new Metrics());
                trainer.initialize(new Shape(options.batch(), 1, 28, 28));
                learn(
                        trainer,
                        new LarderDataset(train, "train-images", "train-labels"),
                        new LarderDataset(test, "t10k-images", "t10k-labels"));
                report(trainer.getTrainingResult(), start);
            }
        }
    }

    private LoaderBuilder loader(Dataset dataset, String part) {
        return Loader.over(dataset)
                .arrays(part + "-images", part + "-labels")
                .transform(
                        part + "-images",
                        new Transform().toFloat().normalize(MEAN, DEVIATION).channelsFirst())
                .batchSize(options.batch())
                .threads(1);
    }

    private void learn(Trainer trainer, LarderDataset train, LarderDataset test)
            throws IOException, TranslateException {
        for (int epoch = 1; epoch <= options.epochs(); epoch++) {
            EasyTrain.fit(trainer, 1, train, test);
            TrainingResult result = trainer.getTrainingResult();
            out.printf(
                    Locale.ROOT,
                    "%s: epoch=%d loss=%.4f accuracy=%.4f testLoss=%.4f testAccuracy=%.4f%n",
                    options.label(),
                    epoch,
                    result.getTrainLoss(),
                    result.getTrainEvaluation("Accuracy"),
                    result.getValidateLoss(),
                    result.getValidateEvaluation("Accuracy"));
        }
    }

    private void report(TrainingResult result, long start) {
        out.printf(
                Locale.ROOT,
                "{\"label\":\"%s\",\"pid\":%d,\"epochs\":%d,\"batch\":%d,\"seed\":%d,\"testAccuracy\":%.4f,\"seconds\":%.2f}%n",
                options.label(),
                ProcessHandle.current().pid(),
                options.epochs(),
                options.batch(),
                options.seed(),
                result.getValidateEvaluation("Accuracy"),
                (System.nanoTime() - start) / 1e9);
    }

    /** Returns a configuration with steps that shrink almost to zero. */
    private TrainingConfig training(long steps) {
        Tracker rate = Tracker.cosine()
                .setBaseValue(options.learningRate())
                .optFinalValue(options.learningRate() / 100)
                .setMaxUpdates(Math.toIntExact(steps))
                .build();
        return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                .addEvaluator(new Accuracy())
                .optDevices(new Device[] {Device.cpu()})
                .optOptimizer(Optimizer.adam().optLearningRateTracker(rate).build())
                .addTrainingListeners(TrainingListener.Defaults.basic());
    }

    /** Builds the network: it halves the sides of the image twice, then connects all pixels. */
    private static Block network() {
        return new SequentialBlock()
                .add(convolution(5, 16))
                .add(Activation::relu)
                .add(convolution(3, 32))
                .add(Activation::relu)
                .add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(64).build())
                .add(Activation::relu)
                .add(Linear.builder().setUnits(CLASSES).build());
    }

    private static Block convolution(int side, int filters) {
        return Conv2d.builder()
                .setKernelShape(new Shape(side, side))
                .optStride(new Shape(2, 2))
                .optPadding(new Shape(side / 2, side / 2))
                .setFilters(filters)
                .build();
    }
}
