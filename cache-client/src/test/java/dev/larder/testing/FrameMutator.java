package dev.larder.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Spoils valid frames, length in front, the way a bug, a torn connection or an enemy would. The same seed spoils in the same way. */
public final class FrameMutator {
    private static final int LENGTH_BYTES = Integer.BYTES;
    private static final int MOST_STEPS = 3;
    private static final int MOST_GARBAGE = 300;
    private static final int[] LENGTHS = {
        Integer.MIN_VALUE, -1, 0, 1, 7, 8, 9, 255, 65_535, 1 << 20, (4 << 20) + 1, 1 << 30
    };
    private static final int[] SHORTS = {0, 1, 2, 127, 128, 129, 1024, 1025, 4096, 4097, 32_767, 32_768, 65_534, 65_535
    };
    private static final long[] LONGS = {Long.MIN_VALUE, -2, -1, 0, 1, Integer.MAX_VALUE, 1L << 40, Long.MAX_VALUE};

    private final Random random;
    private final List<byte[]> samples;

    /** Creates one that starts from these frames. */
    public FrameMutator(long seed, List<byte[]> samples) {
        this.random = new Random(seed);
        this.samples = List.copyOf(samples);
    }

    /** Returns the next spoiled frame, or bytes that were never one. */
    public byte[] next() {
        byte[] frame = sample();
        for (int step = random.nextInt(MOST_STEPS); step >= 0; step--) {
            frame = mutate(frame);
        }
        return frame;
    }

    /** Returns one of the valid frames. */
    public byte[] sample() {
        return samples.get(random.nextInt(samples.size())).clone();
    }

    private byte[] mutate(byte[] frame) {
        if (frame.length <= LENGTH_BYTES) {
            return sample();
        }
        return switch (random.nextInt(10)) {
            case 0, 1 -> flipBits(frame);
            case 2 -> Arrays.copyOf(frame, random.nextInt(frame.length));
            case 3 -> withLength(Arrays.copyOf(frame, LENGTH_BYTES + random.nextInt(frame.length - LENGTH_BYTES)));
            case 4 -> lengthLie(frame);
            case 5 -> splice(frame, sample());
            case 6 -> repeat(frame);
            case 7 -> shortValue(frame);
            case 8 -> longValue(frame);
            default -> random.nextInt(4) == 0 ? garbage() : drop(frame);
        };
    }

    private byte[] flipBits(byte[] frame) {
        for (int flips = random.nextInt(8); flips >= 0; flips--) {
            frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return frame;
    }

    private byte[] lengthLie(byte[] frame) {
        int lie = random.nextBoolean()
                ? LENGTHS[random.nextInt(LENGTHS.length)]
                : frame.length - LENGTH_BYTES + random.nextInt(33) - 16;
        bytes(frame).putInt(0, lie);
        return frame;
    }

    /** Puts the end of another frame behind the beginning of this one. */
    private byte[] splice(byte[] frame, byte[] other) {
        int head = random.nextInt(frame.length);
        int from = random.nextInt(other.length);
        byte[] spliced = Arrays.copyOf(frame, head + other.length - from);
        System.arraycopy(other, from, spliced, head, other.length - from);
        return random.nextInt(4) == 0 ? spliced : withLength(spliced);
    }

    /** Says a part of the body, such as an element of a group, several times. */
    private byte[] repeat(byte[] frame) {
        int from = LENGTH_BYTES + random.nextInt(frame.length - LENGTH_BYTES);
        int part = 1 + random.nextInt(frame.length - from);
        int times = 1 + random.nextInt(random.nextInt(50) == 0 ? 1_000 : 4);
        byte[] repeated = new byte[frame.length + times * part];
        System.arraycopy(frame, 0, repeated, 0, from);
        for (int i = 0; i < times; i++) {
            System.arraycopy(frame, from, repeated, from + i * part, part);
        }
        System.arraycopy(frame, from, repeated, from + times * part, frame.length - from);
        return withLength(repeated);
    }

    private byte[] shortValue(byte[] frame) {
        if (frame.length >= LENGTH_BYTES + Short.BYTES) {
            int at = LENGTH_BYTES + random.nextInt(frame.length - LENGTH_BYTES - 1);
            bytes(frame).putShort(at, (short) SHORTS[random.nextInt(SHORTS.length)]);
        }
        return frame;
    }

    private byte[] longValue(byte[] frame) {
        if (frame.length >= LENGTH_BYTES + Long.BYTES) {
            int at = LENGTH_BYTES + random.nextInt(frame.length - LENGTH_BYTES - Long.BYTES + 1);
            bytes(frame).putLong(at, LONGS[random.nextInt(LONGS.length)]);
        }
        return frame;
    }

    private byte[] drop(byte[] frame) {
        int from = LENGTH_BYTES + random.nextInt(frame.length - LENGTH_BYTES);
        int part = 1 + random.nextInt(frame.length - from);
        byte[] shorter = Arrays.copyOf(frame, frame.length - part);
        System.arraycopy(frame, from + part, shorter, from, frame.length - from - part);
        return withLength(shorter);
    }

    private byte[] garbage() {
        byte[] garbage = new byte[LENGTH_BYTES + random.nextInt(MOST_GARBAGE)];
        random.nextBytes(garbage);
        return random.nextBoolean() ? garbage : withLength(garbage);
    }

    private static byte[] withLength(byte[] frame) {
        if (frame.length >= LENGTH_BYTES) {
            bytes(frame).putInt(0, frame.length - LENGTH_BYTES);
        }
        return frame;
    }

    private static ByteBuffer bytes(byte[] frame) {
        return ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    }
}
