package dev.larder.loader.internal.transform;

import dev.larder.loader.internal.device.KernelSource;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A {@link SampleTransform} as a kernel. It computes the same bytes as {@link SampleTransform#apply}, except that devices may
 * change the bits of a NaN.
 */
public final class SampleKernel implements KernelSource {
    private final SampleTransform transform;
    private final Rows rows;
    private final KernelPlan plan;
    private final ControlDescriptor descriptor;
    private final String text;
    private final int itemsPerSample;

    private SampleKernel(SampleTransform transform, Rows rows, KernelPlan plan) {
        this.transform = transform;
        this.rows = rows;
        this.plan = plan;
        this.descriptor = new ControlDescriptor(rows.located(), plan.isDrawn());
        KernelText written = new KernelText(plan, rows, descriptor, transform.storedByteSize());
        this.text = written.source();
        this.itemsPerSample = written.itemsPerSample();
    }

    /**
     * Creates the kernel of a transform. Returns empty if samples have no bytes, or if the steps need the host: the user's code, two
     * different borders, class numbers that are computed, or moved vectors of classes.
     */
    public static Optional<SampleKernel> of(SampleTransform transform, Rows rows) {
        KernelPlan plan = KernelPlan.of(transform.program());
        return plan == null ? Optional.empty() : Optional.of(new SampleKernel(transform, rows, plan));
    }

    /** Returns the transform of this kernel. */
    public SampleTransform transform() {
        return transform;
    }

    @Override
    public Rows rows() {
        return rows;
    }

    @Override
    public String text() {
        return text;
    }

    @Override
    public int storedByteSize() {
        return transform.storedByteSize();
    }

    @Override
    public int rowByteSize() {
        return transform.rowByteSize();
    }

    /** Returns whether the kernel computes, so that the device must round 32-bit floats like Java. */
    public boolean computes() {
        return plan.computes();
    }

    /** Returns whether the device must have 64-bit floats. */
    public boolean needsDoubles() {
        return plan.needsDoubles();
    }

    @Override
    public int itemsPerSample() {
        return itemsPerSample;
    }

    @Override
    public int controlInts() {
        return descriptor.ints();
    }

    /**
     * Writes the control of one sample: its row and its placement. Allocates nothing.
     *
     * @param target the control of all samples, {@link #controlInts} for each; only that of {@code sample} is written
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
     * Returns whether stored rows must be {@linkplain #check checked} before they go to the device. The device cannot fail: it
     * writes a vector of zeros for a label outside the classes.
     */
    public boolean checksRows() {
        return plan.oneHot() != null;
    }

    /** Checks one stored row, and fails with {@code BAD_INPUT} like {@link SampleTransform#apply}. Allocates nothing. */
    public void check(DirectBuffer stored, int offset) {
        Pass.OneHot oneHot = plan.oneHot();
        if (oneHot != null) {
            int itemSize = oneHot.stored().byteSize();
            for (int i = 0; i < oneHot.count(); i++) {
                oneHot.requireClass(oneHot.stored().integer(stored, offset + i * itemSize));
            }
        }
    }

    @Override
    public void run(int samples, ByteBuffer control, ByteBuffer target, List<ByteBuffer> sources) {
        TransformScratch scratch = transform.newScratch();
        TransformTarget output = TransformTarget.of(target);
        byte[] stored = new byte[transform.storedByteSize()];
        for (int sample = 0; sample < samples; sample++) {
            long row = rows.located() ? descriptor.readRow(control, sample) : sample;
            ByteBuffer source = sources.get((int) (row / rows.rowsPerShard()));
            source.get(rows.start() + (int) (row % rows.rowsPerShard()) * stored.length, stored);
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
