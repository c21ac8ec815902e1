package dev.larder.loader.device;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.transform.Transform;
import dev.larder.loader.transform.Transforms;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes up cases: any steps that fit any array, stored in any way. */
public final class KernelSweep {
    private static final int CLASSES = 12;

    private final Random random;

    public KernelSweep(long seed) {
        this.random = new Random(seed);
    }

    public List<KernelCase> cases(int count) {
        List<KernelCase> cases = new ArrayList<>();
        while (cases.size() < count) {
            Dtype stored = Dtype.parse(type());
            boolean labels = random.nextInt(8) == 0 && stored.kind() != Kind.FLOAT;
            long[] shape = shape(labels ? 3 : 5);
            Transform transform = labels ? labels() : steps(shape);
            try {
                SampleTransform compiled = SampleTransform.compile(transform, stored, shape);
                if (SampleKernel.of(compiled, KernelSource.Rows.staged()).isPresent()) {
                    cases.add(make(transform, compiled, stored, shape, labels));
                }
            } catch (LarderException unfit) {
                // made up in vain
            }
        }
        return cases;
    }

    private KernelCase make(Transform transform, SampleTransform compiled, Dtype stored, long[] shape, boolean labels) {
        int rows = 1 + random.nextInt(40);
        int count = rows * compiled.storedByteSize() / stored.itemSize();
        byte[] array = labels ? classes(stored, count) : KernelCase.values(stored, count, random);
        int[] batch = random.ints(1 + random.nextInt(67), 0, rows).toArray();
        return new KernelCase(transform, stored, shape, rows(rows), array, batch);
    }

    private KernelSource.Rows rows(int rows) {
        if (random.nextInt(3) == 0) {
            return KernelSource.Rows.staged();
        }
        int rowsPerShard = 1 + Math.max(rows / 6, random.nextInt(rows));
        return KernelSource.Rows.resident(rowsPerShard, (rows + rowsPerShard - 1) / rowsPerShard)
                .startingAt(KernelSource.Rows.START_ALIGNMENT * random.nextInt(4));
    }

    private byte[] classes(Dtype stored, int count) {
        ByteBuffer bytes = ByteBuffer.allocate(count * stored.itemSize()).order(stored.byteOrder());
        for (int i = 0; i < count; i++) {
            int label = random.nextInt(stored.kind() == Kind.BOOL ? 2 : CLASSES);
            switch (stored.itemSize()) {
                case Byte.BYTES -> bytes.put((byte) label);
                case Short.BYTES -> bytes.putShort((short) label);
                case Integer.BYTES -> bytes.putInt(label);
                default -> bytes.putLong(label);
            }
        }
        return bytes.array();
    }

    private Transform labels() {
        Transform transform = Transforms.oneHot(CLASSES + random.nextInt(5));
        return switch (random.nextInt(4)) {
            case 0 -> transform;
            case 1 -> transform.cast(type());
            case 2 -> transform.scale(0.9f, 0.01f).toBfloat16();
            default -> transform.normalize(0.1f, 0.3f).cast(type());
        };
    }

    private long[] shape(int ranks) {
        int rank = random.nextInt(ranks);
        long[] shape = random.longs(rank, 1, 9).toArray();
        if (rank > 1 && random.nextBoolean()) {
            shape[1] = 8L << random.nextInt(2);
        }
        return shape;
    }

    private Transform steps(long[] shape) {
        Transform transform = Transforms.none();
        for (int i = random.nextInt(6); i > 0; i--) {
            transform = transform.then(step(shape.length == 0 ? 1 : (int) shape[shape.length - 1]));
        }
        return transform;
    }

    private Transform step(int channels) {
        return switch (random.nextInt(12)) {
            case 0 -> Transforms.toFloat();
            case 1 -> Transforms.cast(type());
            case 2 -> Transforms.scale(random.nextFloat() - 0.5f, random.nextFloat() - 0.5f);
            case 3 -> Transforms.normalize(random.nextFloat(), 0.1f + random.nextFloat());
            case 4 -> Transforms.normalize(floats(channels), floats(channels));
            case 5 -> Transforms.randomCrop(1 + random.nextInt(8), 1 + random.nextInt(12), random.nextInt(5));
            case 6 -> Transforms.centerCrop(1 + random.nextInt(8), 1 + random.nextInt(12));
            case 7 -> Transforms.randomFlip(0.5f);
            case 8 -> Transforms.channelsFirst();
            case 9 -> Transforms.toBfloat16();
            case 10 -> Transforms.fromBfloat16();
            default -> Transforms.flip();
        };
    }

    private String type() {
        return KernelNumbers.TYPES.get(random.nextInt(KernelNumbers.TYPES.size()));
    }

    private float[] floats(int count) {
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
            floats[i] = 0.1f + random.nextFloat();
        }
        return floats;
    }
}
