package dev.larder.examples;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.examples.SoftmaxModel.Score;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;

/**
 * Trains a Fashion-MNIST classifier on cached data: the loader provides images and labels; everything else is plain Java.
 *
 * <p>Prints one line per epoch, then one with the result as JSON. Uses the exit codes of the {@code larder} command.
 */
public final class SoftmaxTrainer {
    private static final int CLASSES = 10;
    private static final float MEAN = 0.286f;
    private static final float DEVIATION = 0.353f;

    private final TrainerOptions options;
    private final PrintStream out;

    SoftmaxTrainer(TrainerOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    /** Trains with the options of the command line. */
    public static void main(String[] arguments) throws IOException {
        TrainerOptions options;
        try {
            options = TrainerOptions.parse(List.of(arguments));
        } catch (IllegalArgumentException e) {
            System.err.println("SoftmaxTrainer: " + e.getMessage());
            System.err.print(TrainerOptions.USAGE);
            System.exit(2);
            return;
        }
        try {
            new SoftmaxTrainer(options, System.out).run(System.in);
        } catch (LarderException e) {
            System.err.println("SoftmaxTrainer: " + e.getMessage());
            System.exit(e.code().number());
        }
    }

    /** Trains, tests after each epoch, and reports. */
    Result run(InputStream in) throws IOException {
        long start = System.nanoTime();
        try (Larder larder = options.store() == null ? Larder.connect() : Larder.connect(options.store());
                Dataset dataset = larder.dataset(options.dataset());
                Loader train = loader(dataset, "train").shuffle(options.seed()).build();
                Loader test = loader(dataset, "t10k").build()) {
            ArrayView images = dataset.array("train-images");
            int pixels = Math.toIntExact(images.elementCount() / images.rows());
            SoftmaxModel model = new SoftmaxModel(pixels, CLASSES, options.batch());
            Feed feed = new Feed(model, options.batch());
            Score trained = Score.NONE;
            Score tested = Score.NONE;
            for (int epoch = 1; epoch <= options.epochs(); epoch++) {
                trained = learn(feed, train.epoch(epoch - 1));
                tested = measure(feed, test.epoch(0));
                out.printf(
                        Locale.ROOT,
                        "%s: epoch=%d loss=%.4f accuracy=%.4f testLoss=%.4f testAccuracy=%.4f%n",
                        options.label(),
                        epoch,
                        trained.loss(),
                        trained.accuracy(),
                        tested.loss(),
                        tested.accuracy());
            }
            Result result = new Result(options, dataset.version(), dataset.digest(), trained, tested, seconds(start));
            report(result);
            hold(in);
            return result;
        }
    }

    private LoaderBuilder loader(Dataset dataset, String part) {
        return Loader.over(dataset).arrays(part + "-images", part + "-labels").batchSize(options.batch());
    }

    /** Trains for one epoch. The step size falls linearly to zero over all epochs. */
    private Score learn(Feed feed, Epoch epoch) {
        float steps = (float) options.epochs() * epoch.batches();
        for (Batch batch : epoch) {
            feed.take(batch);
            float left = 1 - (epoch.number() * epoch.batches() + batch.number()) / steps;
            feed.model().learn(feed.labels(), batch.size(), options.learningRate() * left);
        }
        return feed.model().score();
    }

    private static Score measure(Feed feed, Epoch epoch) {
        for (Batch batch : epoch) {
            feed.take(batch);
            feed.model().measure(feed.labels(), batch.size());
        }
        return feed.model().score();
    }

    private void report(Result result) throws IOException {
        out.println(result.json());
        out.flush();
        if (options.jsonResult() != null) {
            Files.writeString(options.jsonResult(), result.json() + "\n");
        }
    }

    /** Waits with everything still mapped, so that the memory can be inspected. */
    private void hold(InputStream in) throws IOException {
        if (options.holdUntilStdinCloses()) {
            in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    /** Copies batches into the model, and converts stored bytes to normalised floats. */
    private static final class Feed {
        private final SoftmaxModel model;
        private final int[] labels;
        private final float[] scale = new float[256];

        Feed(SoftmaxModel model, int batch) {
            this.model = model;
            this.labels = new int[batch];
            for (int value = 0; value < scale.length; value++) {
                scale[value] = (value / 255f - MEAN) / DEVIATION;
            }
        }

        void take(Batch batch) {
            BatchArray images = batch.array(0);
            int rows = (int) images.dimension(1);
            int columns = (int) images.dimension(2);
            for (int i = 0; i < batch.size(); i++) {
                labels[i] = batch.array(1).getInt(i);
                for (int row = 0, pixel = 0; row < rows; row++) {
                    for (int column = 0; column < columns; column++, pixel++) {
                        model.pixel(i, pixel, scale[images.getInt(i, row, column)]);
                    }
                }
            }
        }

        SoftmaxModel model() {
            return model;
        }

        int[] labels() {
            return labels;
        }
    }

    /** The result of a run; {@code seconds} includes the time to connect. */
    record Result(TrainerOptions options, long version, String digest, Score trained, Score tested, double seconds) {
        String json() {
            return String.format(
                    Locale.ROOT,
                    "{\"label\":\"%s\",\"dataset\":\"%s\",\"version\":%d,\"digest\":\"%s\",\"pid\":%d,"
                            + "\"learningRate\":%s,\"epochs\":%d,\"batch\":%d,\"seed\":%d,\"loss\":%.4f,"
                            + "\"accuracy\":%.4f,\"testLoss\":%.4f,\"testAccuracy\":%.4f,\"seconds\":%.2f}",
                    options.label(),
                    options.dataset(),
                    version,
                    digest,
                    ProcessHandle.current().pid(),
                    options.learningRate(),
                    options.epochs(),
                    options.batch(),
                    options.seed(),
                    trained.loss(),
                    trained.accuracy(),
                    tested.loss(),
                    tested.accuracy(),
                    seconds);
        }
    }
}
