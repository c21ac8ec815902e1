package dev.larder.loader.internal.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Runs compiled transforms on single samples. */
final class Samples {
    private Samples() {}

    /** Returns what a transform makes of the sample at a place in some bytes, in the second row of an output of either kind. */
    static byte[] apply(SampleTransform transform, byte[] stored, int offset, long seed, long epoch, long position) {
        int length = transform.rowByteSize();
        ByteBuffer direct = ByteBuffer.allocateDirect(3 * length);
        ByteBuffer heap = ByteBuffer.allocate(3 * length);
        for (ByteBuffer memory : List.of(direct, heap)) {
            transform.apply(
                    stored, offset, TransformTarget.of(memory), 1, seed, epoch, position, transform.newScratch());
        }
        assertThat(direct).isEqualTo(heap);
        assertThat(direct.slice(0, length)).isEqualTo(ByteBuffer.allocate(length));
        assertThat(direct.slice(2 * length, length)).isEqualTo(ByteBuffer.allocate(length));
        byte[] bytes = new byte[length];
        direct.get(length, bytes);
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
