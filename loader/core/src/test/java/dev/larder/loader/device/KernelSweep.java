package dev.larder.loader.device;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.transform.Transform;
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
        Transform transform = new Transform().oneHot(CLASSES + random.nextInt(5));
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
        Transform transform = new Transform();
        for (int i = random.nextInt(6); i > 0; i--) {
            transform = transform.then(step(shape.length == 0 ? 1 : (int) shape[shape.length - 1]));
        }
        return transform;
    }

    private Transform step(int channels) {
        return switch (random.nextInt(12)) {
            case 0 -> new Transform().toFloat();
            case 1 -> new Transform().cast(type());
            case 2 -> new Transform().scale(random.nextFloat() - 0.5f, random.nextFloat() - 0.5f);
            case 3 -> new Transform().normalize(random.nextFloat(), 0.1f + random.nextFloat());
            case 4 -> new Transform().normalize(floats(channels), floats(channels));
            case 5 -> new Transform().randomCrop(1 + random.nextInt(8), 1 + random.nextInt(12), random.nextInt(5));
            case 6 -> new Transform().centerCrop(1 + random.nextInt(8), 1 + random.nextInt(12));
            case 7 -> new Transform().randomFlip(0.5f);
            case 8 -> new Transform().channelsFirst();
            case 9 -> new Transform().toBfloat16();
            case 10 -> new Transform().fromBfloat16();
            default -> new Transform().flip();
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
