package dev.larder.loader.internal.transform;

import dev.larder.loader.internal.image.ImageMaker;
import dev.larder.loader.internal.image.Jitter;
import dev.larder.loader.transform.SampleRandom;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/** One thread's memory for a {@link SampleTransform}, used for one sample after the other. */
public final class TransformScratch {
    final int[] parameters;
    final Placement placement = new Placement();
    final NumberBlock block = new NumberBlock();

    /** The memory of each pass. */
    final Pass.Room[] rooms;

    /** The output of each pass except the last. */
    final byte[][] between;

    /** The input and the output of the user's code. */
    final UnsafeBuffer sample = new UnsafeBuffer(new byte[0]);

    final UnsafeBuffer result = new UnsafeBuffer(new byte[0]);

    final ImageMaker.Resizing resizing = new ImageMaker.Resizing();
    final Jitter jitter = new Jitter();
    private byte[] bytes = {};

    private final SampleTransform owner;
    private final StepRandom random;
    private long seed;
    private long epoch;
    private long position;

    /** Whether the placement is given. */
    boolean placed;

    /** Whether class numbers out of range give zeros, as on a device. */
    boolean lenient;

    TransformScratch(SampleTransform owner, int parameterCount, List<Pass> passes, StepRandom random) {
        this.owner = owner;
        this.random = random;
        this.parameters = new int[parameterCount];
        this.rooms = passes.stream().map(Pass::newRoom).toArray(Pass.Room[]::new);
        this.between = passes.stream()
                .limit(passes.size() - 1L)
                .map(pass -> new byte[pass.byteSize()])
                .toArray(byte[][]::new);
    }

    void begin(SampleTransform transform, long seed, long epoch, long position) {
        if (transform != owner) {
            throw new IllegalArgumentException("the scratch memory belongs to another transform");
        }
        this.seed = seed;
        this.epoch = epoch;
        this.position = position;
        this.placed = false;
        this.lenient = false;
    }

    /** Returns working memory for one pass. */
    byte[] bytes(int length) {
        if (bytes.length < length) {
            bytes = new byte[length];
        }
        return bytes;
    }

    /** Returns the random numbers of a step for the current sample. */
    SampleRandom random(int step) {
        random.begin(seed, epoch, position, step);
        return random;
    }
}
