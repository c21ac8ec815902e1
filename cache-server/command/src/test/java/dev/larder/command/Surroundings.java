package dev.larder.command;

import dev.larder.client.BytesWriter;
import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.RaggedWriter;
import dev.larder.client.StringsWriter;
import dev.larder.client.TextIndexWriter;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.launch.process.LaunchListener;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.Loader;
import dev.larder.npy.Dtype;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import javax.imageio.ImageIO;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jocl.cl_mem;

/**
 * What the snippets of the documents take for granted: a client, three datasets, a loader, and a trainer that computes nothing.
 *
 * <p>{@code mnist} is Fashion-MNIST, loaded before; {@code scan} and {@code meta} are made here.
 */
public abstract class Surroundings implements AutoCloseable {
    private static final int SCENES = 300;

    protected final Larder larder = Larder.connect();
    protected final Dataset mnist = larder.dataset("mnist");
    protected final Dataset scan = larder.getOrCreate("scan", Surroundings::scan);
    protected final Dataset meta = larder.getOrCreate("meta", Surroundings::meta);
    protected final Regions regions = Regions.of(larder);
    protected final Loader loader = Loader.over(mnist)
            .arrays("train-images", "train-labels")
            .shuffle(42)
            .batchSize(256)
            .build();
    protected final Batch batch = loader.epoch(0).iterator().next();
    protected final SharedArray weights =
            SharedArray.openOrCreate(regions, "weights-of-a-document", Dtype.parse("<f4"), 784, 10);
    protected final Duration timeout = Duration.ofSeconds(10);
    protected final LaunchListener listener = new LaunchListener() {};
    protected final float[] array = new float[64];
    protected final float[] parameters = new float[64];
    protected final float[] means = {0.485f, 0.456f, 0.406f};
    protected final float[] deviations = {0.229f, 0.224f, 0.225f};
    protected final float gradient = 0.5f;
    protected final float rate = 0.01f;
    protected final long rows = 10;
    protected final long number = 0;
    protected final int i = 0;
    protected final int rank = 0;
    protected final int world = 1;

    /** Runs the snippet. */
    public abstract void block() throws Exception;

    /** Ends what was given to the snippet. */
    @Override
    public final void close() {
        weights.close();
        loader.close();
        regions.close();
        meta.close();
        scan.close();
        mnist.close();
        larder.close();
    }

    protected final float[] compute() {
        return new float[(int) rows * 128];
    }

    protected final float[] gradient(Batch samples) {
        return new float[samples.size()];
    }

    protected final void step(BatchArray images, BatchArray labels, int size) {
        if (images.rows() != size || labels.rows() != size || size == 0) {
            throw new AssertionError("an empty batch");
        }
    }

    protected final void step(cl_mem images, int size) {
        if (images.equals(new cl_mem()) || size == 0) {
            throw new AssertionError("an empty batch");
        }
    }

    protected final void step(float[] gradients) {
        Arrays.fill(gradients, 0);
    }

    protected final void train(DirectBuffer samples, Dtype dtype, long... shape) {
        if (samples.capacity() == 0 || shape.length == 0) {
            throw new AssertionError("an empty handle of " + dtype);
        }
    }

    protected final int tokenize(DirectBuffer utf8, MutableDirectBuffer tokens) {
        tokens.putInt(0, utf8.capacity());
        return 1;
    }

    protected final void fill(MutableDirectBuffer buffer) {
        buffer.setMemory(0, buffer.capacity(), (byte) 1);
    }

    protected final void reload(SharedArray state) {
        state.setFloat(0, 0);
    }

    protected final void change(SharedArray state) {
        state.setFloat(0, 1);
    }

    static void scan(DatasetBuilder build) {
        RaggedWriter features = build.ragged("obj_feat", Dtype.parse("<f4"), 2);
        RaggedWriter tokens = build.ragged("tokens", Dtype.parse("<i4"), 1);
        StringsWriter captions = build.strings("caption");
        BytesWriter photos = build.bytes("photo");
        StringsWriter sceneIds = build.strings("scene_id");
        TextIndexWriter scenes = build.textIndex("scene");
        try {
            ByteBuffer photo = photo();
            for (int row = 0; row < SCENES; row++) {
                String scene = "scene0685_%02d".formatted(row);
                features.add(ByteBuffer.allocate((row % 5 + 1) * 8 * Float.BYTES), row % 5 + 1, 8);
                tokens.add(ByteBuffer.allocate((row % 300 + 1) * Integer.BYTES), row % 300 + 1);
                photos.add(photo);
                photo.rewind();
                captions.add("a chair, number " + row);
                sceneIds.add(scene);
                scenes.add(scene, row);
            }
            build.array("scene_feat", Dtype.parse("<f4"), SCENES, 4).write(0, new float[SCENES * 4]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ByteBuffer photo() throws IOException {
        ByteArrayOutputStream encoded = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(40, 30, BufferedImage.TYPE_3BYTE_BGR), "jpg", encoded);
        return ByteBuffer.wrap(encoded.toByteArray());
    }

    private static void meta(DatasetBuilder build) {
        StringsWriter paths = build.strings("path");
        for (int row = 0; row < SCENES; row++) {
            paths.add("scans/" + row + ".ply");
        }
    }
}
