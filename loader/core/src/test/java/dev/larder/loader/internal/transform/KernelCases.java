package dev.larder.loader.internal.transform;

import dev.larder.loader.internal.device.KernelSource.Rows;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/** Runs kernels in Java beside the transforms that they are made of. */
final class KernelCases {
    static final long SEED = 17;
    static final long EPOCH = 4;

    private KernelCases() {}

    static SampleKernel kernel(Transform transform, String dtype, Rows rows, long... shape) {
        return SampleKernel.of(SampleTransform.compile(transform, Dtype.parse(dtype), shape), rows)
                .orElseThrow();
    }

    /** Returns what a transform makes of rows of an array. */
    static byte[] applied(SampleTransform transform, byte[] array, int[] batch) {
        byte[] bytes = new byte[batch.length * transform.rowByteSize()];
        TransformTarget output = TransformTarget.of(ByteBuffer.wrap(bytes));
        for (int i = 0; i < batch.length; i++) {
            int offset = batch[i] * transform.storedByteSize();
            transform.apply(array, offset, output, i, SEED, EPOCH, i, transform.newScratch());
        }
        return bytes;
    }

    /** Returns what the kernel makes of the same rows. */
    static byte[] run(SampleKernel kernel, byte[] array, int[] batch) {
        byte[] bytes = new byte[batch.length * kernel.transform().rowByteSize()];
        kernel.run(batch.length, control(kernel, batch), ByteBuffer.wrap(bytes), sources(kernel, array, batch));
        return bytes;
    }

    static ByteBuffer control(SampleKernel kernel, int... batch) {
        ByteBuffer control = ByteBuffer.allocateDirect(4 * kernel.controlInts() * batch.length);
        TransformScratch scratch = kernel.transform().newScratch();
        for (int i = 0; i < batch.length; i++) {
            kernel.writeControl(batch[i], SEED, EPOCH, i, scratch, new UnsafeBuffer(control), i);
        }
        return control;
    }

    private static List<ByteBuffer> sources(SampleKernel kernel, byte[] array, int[] batch) {
        int rowBytes = kernel.transform().storedByteSize();
        List<ByteBuffer> sources = new ArrayList<>();
        if (!kernel.rows().located()) {
            ByteBuffer gathered = ByteBuffer.allocate(batch.length * rowBytes);
            Arrays.stream(batch).forEach(row -> gathered.put(array, row * rowBytes, rowBytes));
            return List.of(gathered.clear());
        }
        int shardBytes = Math.toIntExact(kernel.rows().rowsPerShard() * rowBytes);
        for (int from = 0; from < array.length; from += shardBytes) {
            sources.add(ByteBuffer.wrap(Arrays.copyOfRange(array, from, Math.min(array.length, from + shardBytes))));
        }
        return sources;
    }
}
