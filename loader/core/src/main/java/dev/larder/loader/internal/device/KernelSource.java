package dev.larder.loader.internal.device;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * A kernel that computes the samples of a batch: source text for devices, and the same computation in Java.
 *
 * <p>The kernel is {@code void larder_samples(uint samples, global const int *control, global uchar *target, global const uchar
 * *source0, …)} with one work item for each of {@link #itemsPerSample} parts of a sample in dimension 0 and the samples in
 * dimension 1; items beyond either do nothing. All memory begins on a multiple of 128 bytes, and rows in it on one of 64.
 *
 * <p>Immutable and thread-safe.
 */
public interface KernelSource {
    /** The name of the function in {@link #text}. */
    String FUNCTION = "larder_samples";

    /**
     * The places of the stored rows of samples.
     *
     * @param located whether the control contains the row of each sample; otherwise rows are in the order of the samples
     * @param start the offset of the first row in each source, in bytes: a multiple of {@value #START_ALIGNMENT}
     * @param rowsPerShard the number of rows of each source, except the last
     * @param shards the number of sources, 1 to {@value #MAX_SHARDS}
     */
    record Rows(boolean located, int start, long rowsPerShard, int shards) {
        /** The maximum number of sources of a kernel. */
        public static final int MAX_SHARDS = 64;

        /** The alignment of {@link #start} in bytes: no vector that kernels read is longer. */
        public static final int START_ALIGNMENT = 64;

        /** Checks the values. */
        public Rows {
            if (shards < 1 || shards > MAX_SHARDS || rowsPerShard < 1 || start < 0 || start % START_ALIGNMENT != 0) {
                throw new IllegalArgumentException(
                        "shards=" + shards + " rowsPerShard=" + rowsPerShard + " start=" + start);
            }
        }

        /** Returns the places for the rows of one batch, in the order of its samples. */
        public static Rows staged() {
            return new Rows(false, 0, Long.MAX_VALUE, 1);
        }

        /** Returns the places for all rows of an array, in one or more shards. */
        public static Rows resident(long rowsPerShard, int shards) {
            return new Rows(true, 0, rowsPerShard, shards);
        }

        /** Returns the same places with another start offset in each source. */
        public Rows startingAt(int offset) {
            return new Rows(located, offset, rowsPerShard, shards);
        }
    }

    /**
     * Returns the text of the kernel: OpenCL C 1.2, to be built without options that relax arithmetic. With {@code __CUDACC__}
     * defined it is also valid C++, if the backend defines OpenCL's names: its keywords and types, vector lanes {@code .s0},
     * {@code as_float} and similar, {@code get_global_id}; {@code larder_uchar16 (…)}, which makes a vector from its lanes; and
     * {@code larder_from_half(uint)} and {@code larder_to_half(float)}, which convert between 32-bit floats and the bits of 16-bit floats.
     */
    String text();

    /** Returns the places of the stored rows. */
    Rows rows();

    /** Returns the size of a stored sample in bytes. */
    int storedByteSize();

    /** Returns the size of a computed sample in bytes. */
    int rowByteSize();

    /** Returns the number of work items for a sample, at least 1. */
    int itemsPerSample();

    /** Returns the number of 32-bit control values for a sample, or 0 if there is no control. */
    int controlInts();

    /**
     * Computes the same in Java, for simulated devices.
     *
     * @param control the loader's control values for each sample; ignored if the kernel takes none
     */
    void run(int samples, ByteBuffer control, ByteBuffer target, List<ByteBuffer> sources);
}
