package dev.larder.examples.opencl;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.LarderException;
import dev.larder.examples.opencl.Scores.Score;
import dev.larder.loader.Batch;
import dev.larder.loader.Epoch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.opencl.OpenClDevice;
import dev.larder.loader.transform.Transform;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import org.jocl.CLException;
import org.jocl.cl_mem;

/**
 * Trains a Fashion-MNIST classifier on an OpenCL device with its own context and queue. The loader provides normalised batches on
 * the device; kernels of this program compute the network and its steps. Only scores are copied to the host.
 *
 * <p>Batches need no fence here: work in this program's queue runs after the batch is filled, and the loader refills the memory after
 * that work. Prints one line per epoch, then one with the result as JSON. Uses the exit codes of the {@code larder} command.
 */
public final class MlpTrainer {
    private static final int HIDDEN = 128;
    private static final int CLASSES = 10;
    private static final float MEAN = 0.286f;
    private static final float DEVIATION = 0.353f;

    private final MlpOptions options;
    private final PrintStream out;

    MlpTrainer(MlpOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    /** Trains with the options of the command line. */
    public static void main(String[] arguments) throws IOException {
        MlpOptions options;
        try {
            options = MlpOptions.parse(List.of(arguments));
        } catch (IllegalArgumentException e) {
            System.err.println("MlpTrainer: " + e.getMessage());
            System.err.print(MlpOptions.USAGE);
            System.exit(2);
            return;
        }
        try {
            new MlpTrainer(options, System.out).run();
        } catch (LarderException e) {
            System.err.println("MlpTrainer: " + e.getMessage());
            System.exit(e.code().number());
        } catch (CLException e) {
            System.err.println("MlpTrainer: OpenCL: " + e.getMessage());
            System.exit(1);
        }
    }

    /** Trains, tests after each epoch, and reports. */
    Result run() throws IOException {
        long start = System.nanoTime();
        try (Larder larder = options.store() == null ? Larder.connect() : Larder.connect(options.store());
                Dataset dataset = larder.dataset(options.dataset());
                OwnDevice device = OwnDevice.open(options.device());
                Kernels kernels = Kernels.compile(device);
                Scores scores = new Scores(device);
                Loader train = open(loader(dataset, "train").shuffle(options.seed()), device);
                Loader test = open(loader(dataset, "t10k"), device)) {
            Mlp.Size size = new Mlp.Size(
                    Math.toIntExact(dataset.array("train-images").rowByteSize()), HIDDEN, CLASSES, options.batch());
            Session session = new Session(new Mlp(device, kernels, size, options.seed()), size, scores);
            Score trained = Score.NONE;
            Score tested = Score.NONE;
            for (int epoch = 1; epoch <= options.epochs(); epoch++) {
                long begun = System.nanoTime();
                long uploaded = train.uploadedBytes();
                Epoch batches = train.epoch(epoch - 1);
                trained = learn(session, batches);
                double seconds = seconds(begun);
                tested = measure(session, test.epoch(0));
                print(epoch, trained, tested);
                out.printf(
                        Locale.ROOT,
                        " seconds=%.2f batches/s=%.0f uploadedBytes=%d mode=%s device=%s%n",
                        seconds,
                        batches.batches() / seconds,
                        train.uploadedBytes() - uploaded,
                        mode(train),
                        device.info());
            }
            Result result =
                    new Result(options, dataset.digest(), device.info(), mode(train), trained, tested, seconds(start));
            report(result);
            return result;
        }
    }

    private LoaderBuilder loader(Dataset dataset, String part) {
        return Loader.over(dataset)
                .fields(
                        Field.rows(part + "-images")
                                .as("images")
                                .transform(new Transform().toFloat().normalize(MEAN, DEVIATION)),
                        Field.rows(part + "-labels").as("labels").transform(new Transform().cast("<i4")))
                .batchSize(options.batch());
    }

    private Loader open(LoaderBuilder loader, OwnDevice device) {
        return loader.device(device.forLoader()).deviceMode(options.mode()).build();
    }

    /** Trains for one epoch. The step size falls linearly to zero over all epochs. */
    private Score learn(Session session, Epoch epoch) {
        float steps = (float) options.epochs() * epoch.batches();
        for (Batch batch : epoch) {
            float left = 1 - (epoch.number() * epoch.batches() + batch.number()) / steps;
            session.network().learn(session.images(batch), labels(batch), options.learningRate() * left);
            session.scores().add(session.network(), batch.size());
        }
        return session.scores().finish();
    }

    private static Score measure(Session session, Epoch epoch) {
        for (Batch batch : epoch) {
            session.network().measure(session.images(batch), labels(batch));
            session.scores().add(session.network(), batch.size());
        }
        return session.scores().finish();
    }

    private static cl_mem labels(Batch batch) {
        return memory(batch, "labels");
    }

    private static cl_mem memory(Batch batch, String array) {
        return OpenClDevice.mem(batch.array(array));
    }

    private static String mode(Loader loader) {
        return loader.mode().map(Enum::name).orElse("HOST");
    }

    private void print(int epoch, Score trained, Score tested) {
        out.printf(
                Locale.ROOT,
                "%s: epoch=%d loss=%.4f accuracy=%.4f testLoss=%.4f testAccuracy=%.4f",
                options.label(),
                epoch,
                trained.loss(),
                trained.accuracy(),
                tested.loss(),
                tested.accuracy());
    }

    private void report(Result result) throws IOException {
        out.println(result.json());
        out.flush();
        if (options.jsonResult() != null) {
            Files.writeString(options.jsonResult(), result.json() + "\n");
        }
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    /** The network and its scores. */
    private record Session(Mlp network, Mlp.Size size, Scores scores) {
        /** Returns the images in device memory, without a copy. */
        Matrix images(Batch batch) {
            return Matrix.of(memory(batch, "images"), batch.size(), size.inputs());
        }
    }

    /** The result of a run; {@code seconds} includes the time to connect. */
    record Result(
            MlpOptions options,
            String digest,
            DeviceInfo device,
            String mode,
            Score trained,
            Score tested,
            double seconds) {
        String json() {
            return String.format(
                    Locale.ROOT,
                    "{\"label\":\"%s\",\"dataset\":\"%s\",\"digest\":\"%s\",\"pid\":%d,\"device\":%d,\"mode\":\"%s\","
                            + "\"learningRate\":%s,\"epochs\":%d,\"batch\":%d,\"seed\":%d,\"loss\":%.4f,"
                            + "\"accuracy\":%.4f,\"testLoss\":%.4f,\"testAccuracy\":%.4f,\"seconds\":%.2f}",
                    options.label(),
                    options.dataset(),
                    digest,
                    ProcessHandle.current().pid(),
                    device.index(),
                    mode,
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
