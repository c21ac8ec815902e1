package dev.larder.loader.internal.transform;

import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Transform} compiled for the samples of one array.
 *
 * <p>The output depends only on the stored bytes, the seed, the epoch and the sample's position. Immutable, for any
 * number of threads, each with its own {@link TransformScratch}.
 */
public final class SampleTransform {
    /** The maximum length of a sample in bytes: Java arrays have int indices. */
    public static final long MAX_SAMPLE_BYTES = 1 << 30;

    private final CompiledTransform program;
    private final Pass[] passes;
    private final Move.Drawn[] draws;

    private SampleTransform(CompiledTransform program) {
        this.program = program;
        this.passes = program.passes().toArray(Pass[]::new);
        this.draws = program.draws().toArray(Move.Drawn[]::new);
    }

    /**
     * Checks that a transform fits the rows of an array. Fails with {@code BAD_INPUT}, naming the first step that does not, and its
     * input type and shape.
     *
     * @param rowShape the dimensions of one sample, without that of the samples; empty if a sample is one number
     */
    public static SampleTransform compile(Transform transform, Dtype stored, long[] rowShape) {
        return new SampleTransform(new Compilation(stored, rowShape).compile(transform));
    }

    /** Checks like {@link #compile}, and compiles only the steps from {@code first} on, for the output of the steps before. */
    public static SampleTransform compileRest(Transform transform, int first, Dtype stored, long[] rowShape) {
        return new SampleTransform(new Compilation(stored, rowShape).compileRest(transform, first));
    }

    /**
     * Checks that a transform fits rows that other steps made, and compiles it. Its steps draw other random numbers than the
     * steps before.
     */
    public static SampleTransform compile(Transform transform, Dtype stored, long[] rowShape, Before before) {
        return new SampleTransform(new Compilation(stored, rowShape, before).compile(transform));
    }

    /**
     * The random steps of the same field before those of a transform.
     *
     * @param moves the number of random crops and flips
     * @param maps the number of the user's functions
     */
    public record Before(int moves, int maps) {
        static final Before NOTHING = new Before(0, 0);

        /** Returns the draw number of the user's function after these steps. */
        public int mapDraw() {
            return Compilation.MAP_DRAWS + maps;
        }
    }

    /**
     * Checks that a transform fits any number of elements, for rows of different lengths. Steps must change elements one
     * by one, all in the same way, and keep their number. The returned transform has single elements as samples.
     */
    public static SampleTransform compileElements(Transform transform, Dtype stored) {
        return new SampleTransform(new Compilation(stored, new long[0]).compileElements(transform));
    }

    CompiledTransform program() {
        return program;
    }

    /** Returns the type of the output elements. */
    public Dtype dtype() {
        return program.dtype();
    }

    /** Returns the dimensions of an output sample, as a new array. */
    public long[] rowShape() {
        return program.rowShape().clone();
    }

    /** Returns the number of bytes per sample in the store. */
    public int storedByteSize() {
        return program.storedByteSize();
    }

    /** Returns the number of bytes per output sample. */
    public int rowByteSize() {
        return program.passes().get(program.passes().size() - 1).byteSize();
    }

    /** Returns whether the output equals the stored samples. */
    public boolean isIdentity() {
        return passes.length == 1
                && passes[0] instanceof Pass.Picked picked
                && picked.mover() == null
                && picked.elements() instanceof ElementOperation.Same;
    }

    /** Returns the number of random parameters of crops and flips per sample. */
    public int parameterCount() {
        return program.parameterCount();
    }

    /** Returns the parameters of a sample's crops and flips in the order of the steps, as {@link #apply} would draw them. */
    public int[] parameters(long seed, long epoch, long position) {
        int[] parameters = new int[parameterCount()];
        drawParameters(seed, epoch, position, parameters);
        return parameters;
    }

    /** Draws the parameters of a sample into an array: row and column for a crop, 0 or 1 for a flip, in the order of the steps. */
    public void drawParameters(long seed, long epoch, long position, int[] parameters) {
        for (Move.Drawn draw : draws) {
            draw.draw(seed, epoch, position, parameters);
        }
    }

    /** Allocates memory for one thread. */
    public TransformScratch newScratch() {
        return newScratch(new StepRandom());
    }

    /** Allocates memory for one thread without random numbers: a user's function that draws fails its sample. */
    public TransformScratch newScratchWithoutRandom() {
        return newScratch(StepRandom.refusing());
    }

    private TransformScratch newScratch(StepRandom random) {
        return new TransformScratch(this, parameterCount(), List.of(passes), random);
    }

    /**
     * Writes one transformed sample. Allocates nothing; exceptions of the user's code pass through unchanged.
     *
     * @param stored contains the stored bytes of the sample, from {@code offset} on
     * @param targetRow which row of {@code target} to write, counted in rows of {@link #rowByteSize}
     * @param position the position of the sample, unique in the epoch
     */
    @SuppressWarnings("checkstyle:ParameterNumber") // called for every sample, so nothing may be allocated to hold them
    public void apply(
            byte[] stored,
            int offset,
            TransformTarget target,
            int targetRow,
            long seed,
            long epoch,
            long position,
            TransformScratch scratch) {
        Objects.checkFromIndexSize(offset, storedByteSize(), stored.length);
        scratch.begin(this, seed, epoch, position);
        drawParameters(seed, epoch, position, scratch.parameters);
        long to = target.offset(targetRow, rowByteSize(), rowByteSize());
        try {
            run(stored, offset, target.array(), to, scratch);
        } finally {
            Reference.reachabilityFence(target);
        }
    }

    /** Works like {@link #apply} on a device: never fails, and uses the placement of the scratch memory if it has one. */
    void applyLeniently(
            byte[] stored, TransformTarget target, int targetRow, boolean placed, TransformScratch scratch) {
        scratch.begin(this, 0, 0, 0);
        scratch.placed = placed;
        scratch.lenient = true;
        long to = target.offset(targetRow, rowByteSize(), rowByteSize());
        try {
            run(stored, 0, target.array(), to, scratch);
        } finally {
            Reference.reachabilityFence(target);
        }
    }

    private void run(byte[] stored, int offset, byte @Nullable [] target, long targetOffset, TransformScratch scratch) {
        byte[] from = stored;
        int at = offset;
        int last = passes.length - 1;
        for (int i = 0; i < last; i++) {
            byte[] next = scratch.between[i];
            passes[i].run(from, at, next, TransformTarget.BYTES_OFFSET, scratch, scratch.rooms[i]);
            from = next;
            at = 0;
        }
        passes[last].run(from, at, target, targetOffset, scratch, scratch.rooms[last]);
    }

    /**
     * Writes some transformed elements. All steps must change each element for itself.
     *
     * @param targetElement the place of the first one, counted in elements of {@link #dtype}
     */
    public void applyElements(
            byte[] stored,
            int offset,
            int elements,
            TransformTarget target,
            int targetElement,
            TransformScratch scratch) {
        ElementOperation each = program.elements();
        if (each == null) {
            throw new IllegalStateException("not compiled for elements: use compileElements");
        }
        Objects.checkFromIndexSize(offset, Math.multiplyExact(elements, storedByteSize()), stored.length);
        scratch.begin(this, 0, 0, 0);
        long to = target.offset(targetElement, rowByteSize(), (long) elements * rowByteSize());
        try {
            each.run(stored, offset, elements, target.array(), to, scratch.block);
        } finally {
            Reference.reachabilityFence(target);
        }
    }

    @Override
    public String toString() {
        return "SampleTransform{" + program.stored() + " → " + program.dtype() + "}";
    }
}
