package dev.larder.loader.internal.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.LarderException;
import dev.larder.internal.number.Half;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransformReferenceTest {
    private static final List<String> TYPES = List.of(
            "|b1", "|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8",
            "<f2", ">f2", "<f4", ">f4", "<f8", ">f8");

    private final long seed = Long.getLong("larder.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @BeforeEach
    void printSeed() {
        System.out.println("seed=" + seed);
    }

    @Test
    void anyStepsGiveTheBytesOfThePlainWay() {
        int compared = 0;
        while (compared < 3000) {
            Dtype dtype = Dtype.parse(TYPES.get(random.nextInt(TYPES.size())));
            long[] shape = shape();
            Transform transform = steps(shape);
            try {
                SampleTransform compiled = SampleTransform.compile(transform, dtype, shape);
                compare(compiled, transform, dtype, shape);
                compared++;
            } catch (LarderException refused) {
                assertThat(refused).hasMessageStartingWith("transform does not fit the array: ");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"|u1", "|i1"})
    void picturesOfBytesGiveTheBytesOfThePlainWay(String descr) {
        for (int i = 0; i < 2000; i++) {
            int channels = 1 + random.nextInt(4);
            long[] shape = {1 + random.nextInt(20), 1 + random.nextInt(20), channels};
            Transform transform = new Transform()
                    .randomCrop(1 + random.nextInt(12), 1 + random.nextInt(12), 6)
                    .randomFlip(0.5f)
                    .scale(random.nextFloat(), random.nextFloat())
                    .normalize(floats(channels), floats(channels));
            Transform whole = random.nextBoolean() ? transform.channelsFirst() : transform;
            Dtype dtype = Dtype.parse(descr);

            compare(SampleTransform.compile(whole, dtype, shape), whole, dtype, shape);
        }
    }

    @Test
    void elementsOfRaggedRowsGiveTheBytesOfThePlainWay() {
        for (int i = 0; i < 1000; i++) {
            Dtype dtype = Dtype.parse(TYPES.get(random.nextInt(TYPES.size())));
            int count = random.nextInt(3000);
            Transform transform = new Transform()
                    .scale(random.nextFloat(), 1)
                    .normalize(0.5f, 0.3f)
                    .cast(type());
            byte[] stored = values(dtype, count + 2);
            SampleTransform compiled = SampleTransform.compileElements(transform, dtype);
            ByteBuffer memory = ByteBuffer.allocateDirect((count + 1) * compiled.rowByteSize());

            compiled.applyElements(
                    stored, 2 * dtype.itemSize(), count, TransformTarget.of(memory), 1, compiled.newScratch());

            byte[] wanted = PlainTransform.apply(transform, dtype, new long[] {count + 2}, stored, new int[0]);
            assertThat(memory.position(compiled.rowByteSize()).slice())
                    .as("seed %s %s %s", seed, dtype, transform)
                    .isEqualTo(ByteBuffer.wrap(wanted)
                            .position(2 * compiled.rowByteSize())
                            .slice());
        }
    }

    private void compare(SampleTransform compiled, Transform transform, Dtype dtype, long[] shape) {
        byte[] stored = values(dtype, compiled.storedByteSize() / dtype.itemSize());
        byte[] padded = ByteBuffer.allocate(stored.length + 5).put(5, stored).array();
        long position = random.nextLong();

        byte[] bytes = Samples.apply(compiled, padded, 5, seed, 3, position);

        int[] parameters = compiled.parameters(seed, 3, position);
        assertThat(bytes)
                .as("seed %s %s %s %s", seed, dtype, Arrays.toString(shape), transform)
                .isEqualTo(PlainTransform.apply(transform, dtype, shape, stored, parameters));
    }

    private long[] shape() {
        int rank = random.nextInt(5);
        return random.longs(rank, 1, 9).toArray();
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
            case 5 -> new Transform().randomCrop(1 + random.nextInt(8), 1 + random.nextInt(8), random.nextInt(5));
            case 6 -> new Transform().centerCrop(1 + random.nextInt(8), 1 + random.nextInt(8));
            case 7 -> new Transform().randomFlip(0.5f);
            case 8 -> new Transform().channelsFirst();
            case 9 -> new Transform().toBfloat16();
            case 10 -> new Transform().fromBfloat16();
            default -> new Transform().flip();
        };
    }

    private String type() {
        return TYPES.get(random.nextInt(TYPES.size()));
    }

    private float[] floats(int count) {
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
            floats[i] = 0.1f + random.nextFloat();
        }
        return floats;
    }

    /** Returns elements of all kinds: any bits, small numbers, and those at the edges. */
    private byte[] values(Dtype dtype, int count) {
        byte[] bytes = new byte[count * dtype.itemSize()];
        random.nextBytes(bytes);
        NumberType type = NumberType.of(dtype);
        for (int i = 0; i < count && type == NumberType.BOOL; i++) {
            bytes[i] &= 1;
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(dtype.byteOrder());
        for (int i = 0; i < count && type.isFloat(); i++) {
            double value = random.nextGaussian() * Math.pow(2, random.nextInt(80) - 12);
            switch (type) {
                case FLOAT16 -> buffer.putShort((short) Half.ofDouble(value));
                case FLOAT32 -> buffer.putFloat((float) value);
                default -> buffer.putDouble(value);
            }
        }
        return bytes;
    }
}
