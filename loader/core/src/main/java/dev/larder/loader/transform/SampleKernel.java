package dev.larder.loader.transform;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A {@link SampleTransform} as a kernel that makes the samples of a batch: source text for devices, and the same in Java.
 *
 * <p>The kernel is {@code void larder_samples(uint samples, global const uchar *control, global uchar *target, global const uchar
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

    private SampleKernel(SampleTransform transform, Rows rows) {
        this.transform = transform;
        this.rows = rows;
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

    /** Makes the kernel of a transform; nothing if one of its steps is only for the host: the user's code, or two borders. */
    public static Optional<SampleKernel> of(SampleTransform transform, Rows rows) {
        return transform.isIdentity() ? Optional.of(new SampleKernel(transform, rows)) : Optional.empty();
    }

    /** Returns the transform that it does. */
    public SampleTransform transform() {
        return transform;
    }

    /** Returns where it finds rows. */
    public Rows rows() {
        return rows;
    }

    /** Returns the text of the kernel: OpenCL C 1.2. */
    public String source() {
        StringBuilder source = new StringBuilder(
                "__kernel void " + FUNCTION + "(uint samples, __global const int *control, __global uchar *target");
        for (int i = 0; i < rows.shards(); i++) {
            source.append(", __global const uchar *source").append(i);
        }
        source.append(") {\n  size_t item = get_global_id(0), sample = get_global_id(1);\n");
        source.append("  if (item >= " + itemsPerSample() + " || sample >= samples) return;\n");
        source.append("  long row = ")
                .append(rows.located() ? "((__global const long *) control)[sample]" : "(long) sample")
                .append(";\n  __global const uchar *source = source0;\n");
        for (int i = 1; i < rows.shards(); i++) {
            source.append("  if (row >= " + i * rows.rowsPerShard() + "L) source = source" + i + ";\n");
        }
        source.append("  row %= " + rows.rowsPerShard() + "L;\n");
        int bytes = transform.rowByteSize();
        source.append("  target[sample * " + bytes + "L + item] = source[row * " + bytes + "L + item];\n}\n");
        return source.toString();
    }

    /** Returns whether the device must have 64-bit floats. */
    public boolean needsDoubles() {
        return false;
    }

    /** Returns how many work items make a sample. */
    public int itemsPerSample() {
        return transform.rowByteSize();
    }

    /** Returns how many 32-bit numbers the control has for a sample; 0 where there is no control. */
    public int controlInts() {
        return rows.located() ? 2 : 0;
    }

    /**
     * Writes the control of one sample: where its row is, and where its pixels come from. Nothing is allocated.
     *
     * @param target has room for {@link #controlInts} for each sample; this writes those of {@code sample}
     */
    @SuppressWarnings("checkstyle:ParameterNumber") // called for every sample, so nothing may be allocated to hold them
    public void writeControl(
            long row, long seed, long epoch, long position, Scratch scratch, MutableDirectBuffer target, int sample) {
        target.putLong(sample * controlInts() * Integer.BYTES, row, ByteOrder.nativeOrder());
    }

    /** Returns whether stored rows are to be checked before a kernel sees them: it cannot fail for one. */
    public boolean checksRows() {
        return false;
    }

    /** Fails, as the transform does, if a stored row is one that it refuses. Nothing is allocated. */
    public void check(DirectBuffer stored, int offset) {}

    /** Does in Java what the kernel does: for devices that are none. */
    public void run(int samples, ByteBuffer control, ByteBuffer target, List<ByteBuffer> sources) {
        ByteBuffer rowNumbers = control.duplicate().order(ByteOrder.nativeOrder());
        int bytes = transform.rowByteSize();
        for (int sample = 0; sample < samples; sample++) {
            long row = rows.located() ? rowNumbers.getLong(sample * Long.BYTES) : sample;
            ByteBuffer source = sources.get((int) (row / rows.rowsPerShard()));
            target.put(sample * bytes, source, (int) (row % rows.rowsPerShard()) * bytes, bytes);
        }
    }
}
