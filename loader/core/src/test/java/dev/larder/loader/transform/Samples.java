package dev.larder.loader.transform;

import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Runs compiled transforms on single samples. */
final class Samples {
    private Samples() {}

    /** Returns what a transform makes of the sample at a place in some bytes, in the second row of an output. */
    static byte[] apply(SampleTransform transform, byte[] stored, int offset, long seed, long epoch, long position) {
        ByteBuffer memory = ByteBuffer.allocateDirect(3 * transform.rowByteSize());
        Output output = Output.of(memory);
        transform.apply(stored, offset, output, 1, seed, epoch, position, transform.newScratch());
        byte[] bytes = new byte[transform.rowByteSize()];
        memory.get(bytes.length, bytes);
        return bytes;
    }

    /** Returns what becomes of values of a type. */
    static float[] floats(Transform transform, String dtype, long[] shape, byte[] stored) {
        SampleTransform compiled = SampleTransform.compile(transform, Dtype.parse(dtype), shape);
        byte[] bytes = apply(compiled, stored, 0, 0, 0, 0);
        float[] values = new float[bytes.length / Float.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
        return values;
    }
}
