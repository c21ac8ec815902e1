package dev.larder.loader.transform;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A {@link SampleTransform} as a kernel that computes the samples of a batch: source text for devices, and the same in Java.
 *
 * <p>The kernel is {@code void larder_samples(uint samples, global const int *control, global uchar *target, global const uchar
 * *source0, …)} with one work item for each of {@link #itemsPerSample} parts of a sample in dimension 0 and the samples in
 * dimension 1; items beyond either do nothing. All memory begins on a multiple of 128 bytes.
 *
 * <p>Immutable, for any number of threads.
 */
public final class SampleKernel {
    /** The name of the function in {@link #source}. */
    public static final String FUNCTION = "larder_samples";

    private final SampleTransform transform;
    private final Rows rows;
    private final KernelPlan plan;
    private final ControlDescriptor descriptor;
    private final String source;
    private final int itemsPerSample;

    private SampleKernel(SampleTransform transform, Rows rows, KernelPlan plan) {
        this.transform = transform;
        this.rows = rows;
        this.plan = plan;
        this.descriptor = new ControlDescriptor(rows.located(), plan.isDrawn());
        KernelText text = new KernelText(plan, rows, descriptor, transform.storedByteSize());
        this.source = text.source();
        this.itemsPerSample = text.itemsPerSample();
    }

    /**
     * Where the stored rows of samples lie.
     *
     * @param located whether the control says which row a sample is; else the rows lie in the order of the samples
     * @param rowsPerShard how many rows each source has, but for the last
     * @param shards how many sources there are, 1 to {@value #MAX_SHARDS}
     */
    public record Rows(boolean located, long rowsPerShard, int shards) {
        /** How many sources a kernel takes at most. */
        public static final int MAX_SHARDS = 64;

        /** Checks the counts. */
        public Rows {
            if (shards < 1 || shards > MAX_SHARDS || rowsPerShard < 1) {
                throw new IllegalArgumentException("shards=" + shards + " rowsPerShard=" + rowsPerShard);
            }
        }

        /** Rows of one batch, in the order of its samples. */
        public static Rows staged() {
            return new Rows(false, Long.MAX_VALUE, 1);
        }

        /** All rows of an array, in one or several pieces. */
        public static Rows resident(long rowsPerShard, int shards) {
            return new Rows(true, rowsPerShard, shards);
        }
    }

    /**
     * Makes the kernel of a transform. Nothing if its steps do not fit one kernel, and are for the host: the user's code, two different
     * borders, class numbers that are not what is stored, vectors of classes that are moved; or if samples have no bytes.
     */
    public static Optional<SampleKernel> of(SampleTransform transform, Rows rows) {
        KernelPlan plan = KernelPlan.of(transform.program());
        return plan == null ? Optional.empty() : Optional.of(new SampleKernel(transform, rows, plan));
    }

    /** Returns the transform that it does. */
    public SampleTransform transform() {
        return transform;
    }

    /** Returns where it finds rows. */
    public Rows rows() {
        return rows;
    }

    /**
     * Returns the text of the kernel: OpenCL C 1.2, to be built without options that relax arithmetic. What it makes has the bytes that
     * {@link SampleTransform#apply} makes; only of a NaN, devices may keep no more than that it is one.
     */
    public String source() {
        return source;
    }

    /** Returns whether it computes, so that 32-bit floats of the device must be rounded as those of Java. */
    public boolean computes() {
        return plan.computes();
    }

    /** Returns whether the device must have 64-bit floats. */
    public boolean needsDoubles() {
        return plan.needsDoubles();
    }

    /** Returns how many work items make a sample; at least 1. */
    public int itemsPerSample() {
        return itemsPerSample;
    }

    /** Returns how many 32-bit numbers the control has for a sample; 0 where there is no control. */
    public int controlInts() {
        return descriptor.ints();
    }

    /**
     * Writes the control of one sample: where its row is, and where its pixels come from. Nothing is allocated.
     *
     * @param target has room for {@link #controlInts} for each sample; this writes those of {@code sample}
     */
    @SuppressWarnings("checkstyle:ParameterNumber") // called for every sample, so nothing may be allocated to hold them
    public void writeControl(
            long row,
            long seed,
            long epoch,
            long position,
            TransformScratch scratch,
            MutableDirectBuffer target,
            int sample) {
        if (descriptor.located()) {
            descriptor.writeRow(target, sample, row);
        }
        Mover mover = plan.mover();
        if (descriptor.placed() && mover != null) {
            scratch.begin(transform, seed, epoch, position);
            transform.drawParameters(seed, epoch, position, scratch.parameters);
            mover.place(scratch.placement, scratch.parameters);
            descriptor.writePlacement(target, sample, scratch.placement);
        }
    }

    /**
     * Returns whether stored rows must be {@linkplain #check checked} before they go to the device: it cannot fail, and makes vectors
     * of zeros of labels that are none of the classes.
     */
    public boolean checksRows() {
        return plan.oneHot() != null;
    }

    /** Checks one stored row, and fails with {@code BAD_INPUT} as {@link SampleTransform#apply} would. Nothing is allocated. */
    public void check(DirectBuffer stored, int offset) {
        Pass.OneHot oneHot = plan.oneHot();
        if (oneHot != null) {
            int itemSize = oneHot.stored().byteSize();
            for (int i = 0; i < oneHot.count(); i++) {
                oneHot.requireClass(oneHot.stored().integer(stored, offset + i * itemSize));
            }
        }
    }

    /**
     * Does in Java what the kernel does: for devices that are none.
     *
     * @param control what {@link #writeControl} wrote; of any content where it takes none
     */
    public void run(int samples, ByteBuffer control, ByteBuffer target, List<ByteBuffer> sources) {
        TransformScratch scratch = transform.newScratch();
        TransformTarget output = TransformTarget.of(target);
        byte[] stored = new byte[transform.storedByteSize()];
        for (int sample = 0; sample < samples; sample++) {
            long row = rows.located() ? descriptor.readRow(control, sample) : sample;
            ByteBuffer source = sources.get((int) (row / rows.rowsPerShard()));
            source.get((int) (row % rows.rowsPerShard()) * stored.length, stored);
            place(control, sample, scratch);
            transform.applyLeniently(stored, output, sample, descriptor.placed(), scratch);
        }
    }

    private void place(ByteBuffer control, int sample, TransformScratch scratch) {
        Mover mover = plan.mover();
        if (descriptor.placed() && mover != null) {
            mover.place(scratch.placement, scratch.parameters); // for the sizes
            descriptor.readPlacement(control, sample, scratch.placement);
        }
    }
}
