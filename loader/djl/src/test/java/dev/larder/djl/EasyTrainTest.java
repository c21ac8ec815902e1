package dev.larder.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.metric.Metrics;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.TrainingResult;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.testing.FixtureArray;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
class EasyTrainTest {
    private static final int SAMPLES = 500;

    @Test
    void learnsInTheLoopsOfDjlAndLeavesNoSlotBehind() throws Exception {
        try (Shelf shelf = points();
                Loader train = loader(shelf).shuffle(1).prefetch(1).build();
                Loader test = loader(shelf).prefetch(1).build()) {
            TrainingResult result = learn(new LarderDataset(train, "x", "y"), new LarderDataset(test, "x", "y"));

            assertThat(result.getValidateEvaluation("Accuracy")).isGreaterThan(0.9f);
            assertThat(train.stats().samples()).isEqualTo(4 * SAMPLES);
        }
    }

    @Test
    void learnsFromBatchesOfADeviceAsWell() throws Exception {
        try (Shelf shelf = points();
                Loader train = loader(shelf).shuffle(1).device(new FakeDevice()).build();
                Loader test = loader(shelf).device(new FakeDevice()).build()) {
            TrainingResult result = learn(new DeviceDataset(train, "x", "y"), new DeviceDataset(test, "x", "y"));

            assertThat(result.getValidateEvaluation("Accuracy")).isGreaterThan(0.9f);
        }
    }

    private static TrainingResult learn(Dataset train, Dataset test) throws Exception {
        Engine.getEngine("PyTorch").setRandomSeed(1);
        try (Model model = Model.newInstance("linear", Device.cpu(), "PyTorch")) {
            model.setBlock(Linear.builder().setUnits(2).build());
            try (Trainer trainer = model.newTrainer(training())) {
                trainer.setMetrics(new Metrics());
                trainer.initialize(new Shape(1, 2));
                EasyTrain.fit(trainer, 4, train, test);
                return trainer.getTrainingResult();
            }
        }
    }

    private static LoaderBuilder loader(Shelf shelf) {
        return Loader.over(shelf.dataset).arrays("x", "y").batchSize(16);
    }

    private static TrainingConfig training() {
        return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                .addEvaluator(new Accuracy())
                .optDevices(new Device[] {Device.cpu()})
                .optOptimizer(Optimizer.sgd()
                        .setLearningRateTracker(Tracker.fixed(0.05f))
                        .build())
                .addTrainingListeners(TrainingListener.Defaults.basic());
    }

    /** Publishes points of the plane in {@code x}, and in {@code y} on which side of a line they are. */
    private static Shelf points() {
        Random random = new Random(1);
        float[] x = new float[2 * SAMPLES];
        byte[] y = new byte[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            x[2 * i] = random.nextFloat() - 0.5f;
            x[2 * i + 1] = random.nextFloat() - 0.5f;
            y[i] = (byte) (x[2 * i] > x[2 * i + 1] ? 1 : 0);
        }
        return Shelf.of(Map.of("x", FixtureArray.floats(x, SAMPLES, 2), "y", FixtureArray.bytes(y, SAMPLES)));
    }
}
