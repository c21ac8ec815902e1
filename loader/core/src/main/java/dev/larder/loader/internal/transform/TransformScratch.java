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

    /** What each pass needs. */
    final Pass.Room[] rooms;

    /** What each pass but the last leaves for the next. */
    final byte[][] between;

    /** What the user's code is shown, and where it writes. */
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

    /** Whether class numbers that are none make zeros, as on a device. */
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
            throw new IllegalArgumentException("the scratch memory is another transform's");
        }
        this.seed = seed;
        this.epoch = epoch;
        this.position = position;
        this.placed = false;
        this.lenient = false;
    }

    /** Returns some bytes for one pass to work on. */
    byte[] bytes(int length) {
        if (bytes.length < length) {
            bytes = new byte[length];
        }
        return bytes;
    }

    /** Returns the random numbers of a step for the sample at hand. */
    SampleRandom random(int step) {
        random.begin(seed, epoch, position, step);
        return random;
    }
}
