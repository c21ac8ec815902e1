package dev.larder.loader.device;

import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.internal.transform.TransformTarget;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;

/** A transform of an array, and a batch of its rows: what the host makes of them, and how to have a kernel make it. */
public final class KernelCase {
    private static final long SEED = 11;
    private static final long EPOCH = 2;

    private final Transform declared;
    private final Dtype stored;
    private final long[] shape;
    private final SampleTransform transform;
    private final KernelSource.Rows rows;
    private final byte[] array;
    private final int[] batch;

    public KernelCase(
            Transform transform, Dtype stored, long[] shape, KernelSource.Rows rows, byte[] array, int[] batch) {
        this.declared = transform;
        this.stored = stored;
        this.shape = shape;
        this.transform = SampleTransform.compile(transform, stored, shape);
        this.rows = rows;
        this.array = array;
        this.batch = batch;
    }

    public SampleKernel kernel() {
        return SampleKernel.of(transform, rows).orElseThrow();
    }

    public int samples() {
        return batch.length;
    }

    public int targetBytes() {
        return batch.length * transform.rowByteSize();
    }

    /** Returns what the host makes. */
    public byte[] expected() {
        byte[] bytes = new byte[targetBytes()];
        TransformTarget output = TransformTarget.of(ByteBuffer.wrap(bytes));
        TransformScratch scratch = transform.newScratch();
        for (int i = 0; i < batch.length; i++) {
            transform.apply(array, batch[i] * transform.storedByteSize(), output, i, SEED, EPOCH, i, scratch);
        }
        return bytes;
    }

    public ByteBuffer control() {
        SampleKernel kernel = kernel();
        ByteBuffer control = ByteBuffer.allocateDirect(4 * kernel.controlInts() * batch.length);
        UnsafeBuffer writable = new UnsafeBuffer(control);
        TransformScratch scratch = transform.newScratch();
        for (int i = 0; i < batch.length; i++) {
            kernel.writeControl(batch[i], SEED, EPOCH, i, scratch, writable, i);
        }
        return control;
    }

    /** Returns the memory that the kernel reads: the rows of the batch, or the shards of the array, of exactly that size. */
    public List<byte[]> sources() {
        int rowBytes = transform.storedByteSize();
        List<byte[]> sources = new ArrayList<>();
        if (!rows.located()) {
            byte[] gathered = new byte[batch.length * rowBytes];
            for (int i = 0; i < batch.length; i++) {
                System.arraycopy(array, batch[i] * rowBytes, gathered, i * rowBytes, rowBytes);
            }
            sources.add(gathered);
            return sources;
        }
        int shardBytes = Math.toIntExact(rows.rowsPerShard() * rowBytes);
        for (int i = 0; i < rows.shards(); i++) {
            int end = Math.min(array.length, (i + 1) * shardBytes);
            byte[] source = new byte[rows.start() + end - i * shardBytes];
            Arrays.fill(source, 0, rows.start(), (byte) 0x5a); // of a page that the array shares
            System.arraycopy(array, i * shardBytes, source, rows.start(), end - i * shardBytes);
            sources.add(source);
        }
        return sources;
    }

    /** Returns bytes in which every NaN has the same bits: which ones it has is the processor's business. */
    public byte[] withPlainNans(byte[] bytes) {
        Dtype made = transform.dtype();
        boolean halves = isBfloat16();
        if (made.kind() != Kind.FLOAT && !halves) {
            return bytes;
        }
        ByteBuffer plain = ByteBuffer.wrap(bytes.clone()).order(made.byteOrder());
        for (int i = 0; i < bytes.length; i += made.itemSize()) {
            if (made.itemSize() == Long.BYTES && Double.isNaN(plain.getDouble(i))) {
                plain.putDouble(i, Double.NaN);
            } else if (made.itemSize() == Integer.BYTES && Float.isNaN(plain.getFloat(i))) {
                plain.putFloat(i, Float.NaN);
            } else if (made.itemSize() == Short.BYTES && isNan(plain.getShort(i), halves ? 0x7f80 : 0x7c00)) {
                plain.putShort(i, (short) 0x7fff);
            }
        }
        return plain.array();
    }

    private boolean isBfloat16() {
        List<Step> steps = declared.steps();
        return steps.contains(new Step.ToBfloat16()) && transform.dtype().itemSize() == Short.BYTES;
    }

    private static boolean isNan(short bits, int infinity) {
        return (bits & 0x7fff) > infinity;
    }

    @Override
    public String toString() {
        return declared + " of " + stored + Arrays.toString(shape) + " " + rows + " samples=" + batch.length;
    }

    /** Returns elements of all kinds: any bits, common numbers, and those at the edges. */
    public static byte[] values(Dtype dtype, int count, Random random) {
        ByteBuffer buffer = ByteBuffer.allocate(count * dtype.itemSize()).order(dtype.byteOrder());
        random.nextBytes(buffer.array());
        for (int i = 0; i < buffer.capacity() && dtype.kind() == Kind.BOOL; i++) {
            buffer.put(i, (byte) random.nextInt(3));
        }
        for (int i = 0; i < count && dtype.kind() == Kind.FLOAT; i++) {
            int at = i * dtype.itemSize();
            double value = random.nextInt(3) == 0
                    ? KernelNumbers.EDGES[random.nextInt(KernelNumbers.EDGES.length)]
                    : random.nextGaussian() * Math.pow(2, random.nextInt(80) - 12);
            boolean nan = random.nextInt(16) == 0; // one that is no NaN any more if its lower bits are cut off
            switch (random.nextInt(8) == 0 ? 0 : dtype.itemSize()) {
                case Long.BYTES -> buffer.putLong(at, nan ? 0x7ff0_0000_0000_0001L : Double.doubleToRawLongBits(value));
                case Integer.BYTES -> buffer.putInt(at, nan ? 0xff80_0001 : Float.floatToRawIntBits((float) value));
                default -> {} // any bits
            }
        }
        for (int i = 0; i < count && (dtype.kind() == Kind.INT || dtype.kind() == Kind.UINT); i++) {
            int at = i * dtype.itemSize();
            long value = KernelNumbers.INTEGERS[random.nextInt(KernelNumbers.INTEGERS.length)];
            switch (random.nextInt(3) == 0 ? dtype.itemSize() : 0) {
                case Long.BYTES -> buffer.putLong(at, value);
                case Integer.BYTES -> buffer.putInt(at, (int) value);
                case Short.BYTES -> buffer.putShort(at, (short) value);
                default -> {} // any bits
            }
        }
        return buffer.array();
    }
}
