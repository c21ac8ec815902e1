package dev.larder.loader.internal.device;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * A kernel that computes the samples of a batch, as the loader hands it to a backend: source text for devices, and the same in Java.
 *
 * <p>The kernel is {@code void larder_samples(uint samples, global const int *control, global uchar *target, global const uchar
 * *source0, …)} with one work item for each of {@link #itemsPerSample} parts of a sample in dimension 0 and the samples in
 * dimension 1; items beyond either do nothing. All memory begins on a multiple of 128 bytes, and rows in it on one of 64.
 *
 * <p>Immutable, for any number of threads.
 */
public interface KernelSource {
    /** The name of the function in {@link #text}. */
    String FUNCTION = "larder_samples";

    /**
     * The places of the stored rows of samples.
     *
     * @param located whether the control has the row of each sample; else the rows are in the order of the samples
     * @param start the offset of the first row in each source, in bytes: a multiple of {@value #START_ALIGNMENT}
     * @param rowsPerShard the number of rows of each source, except the last
     * @param shards the number of sources, 1 to {@value #MAX_SHARDS}
     */
    record Rows(boolean located, int start, long rowsPerShard, int shards) {
        /** How many sources a kernel takes at most. */
        public static final int MAX_SHARDS = 64;

        /** The unit of {@link #start}: vectors that kernels read are shorter. */
        public static final int START_ALIGNMENT = 64;

        /** Checks the numbers. */
        public Rows {
            if (shards < 1 || shards > MAX_SHARDS || rowsPerShard < 1 || start < 0 || start % START_ALIGNMENT != 0) {
                throw new IllegalArgumentException(
                        "shards=" + shards + " rowsPerShard=" + rowsPerShard + " start=" + start);
            }
        }

        /** Rows of one batch, in the order of its samples. */
        public static Rows staged() {
            return new Rows(false, 0, Long.MAX_VALUE, 1);
        }

        /** All rows of an array, in one or several pieces. */
        public static Rows resident(long rowsPerShard, int shards) {
            return new Rows(true, 0, rowsPerShard, shards);
        }

        /** The same rows, if they start at another offset in each source. */
        public Rows startingAt(int offset) {
            return new Rows(located, offset, rowsPerShard, shards);
        }
    }

    /**
     * Returns the text of the kernel: OpenCL C 1.2, to be built without options that relax arithmetic. Where {@code __CUDACC__} is
     * defined it is C++ as well, given OpenCL's names: its words and types, lanes {@code .s0} of vectors, {@code as_float} and its
     * like, {@code get_global_id}, and {@code larder_uchar16 (…)}, which makes a vector of its lanes.
     */
    String text();

    /** Returns the places of the stored rows. */
    Rows rows();

    /** Returns the size of a stored sample in bytes. */
    int storedByteSize();

    /** Returns the size of a computed sample in bytes. */
    int rowByteSize();

    /** Returns how many work items make a sample; at least 1. */
    int itemsPerSample();

    /** Returns the number of 32-bit control values for a sample, or 0 if there is no control. */
    int controlInts();

    /**
     * Does in Java what the kernel does: for devices that are none.
     *
     * @param control what the loader wrote of each sample; of any content where the kernel takes none
     */
    void run(int samples, ByteBuffer control, ByteBuffer target, List<ByteBuffer> sources);
}
