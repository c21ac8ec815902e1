package dev.larder.loader.internal.sample;

/** The 32-bit Mersenne Twister, seeded as PyTorch seeds its CPU generator. */
public final class Mt19937 {
    private static final int WORDS = 624;
    private static final int MIDDLE = 397;
    private static final int UPPER_BIT = 0x8000_0000;
    private static final int LOWER_BITS = 0x7fff_ffff;
    private static final int TWIST = 0x9908_b0df;

    private final int[] state = new int[WORDS];
    private int next = WORDS;

    /** Begins the sequence of a seed. */
    public Mt19937(int seed) {
        state[0] = seed;
        for (int i = 1; i < WORDS; i++) {
            int before = state[i - 1];
            state[i] = 1_812_433_253 * (before ^ (before >>> 30)) + i;
        }
    }

    /** Returns the next 32 bits as a number of 0 to 2³² - 1. */
    public long next32() {
        if (next == WORDS) {
            refill();
        }
        int bits = state[next++];
        bits ^= bits >>> 11;
        bits ^= (bits << 7) & 0x9d2c_5680;
        bits ^= (bits << 15) & 0xefc6_0000;
        bits ^= bits >>> 18;
        return Integer.toUnsignedLong(bits);
    }

    /** Returns the next 64 bits: the earlier draw is the upper half. */
    public long next64() {
        long upper = next32();
        return upper << 32 | next32();
    }

    private void refill() {
        int i = 0;
        for (; i < WORDS - MIDDLE; i++) {
            state[i] = state[i + MIDDLE] ^ twist(state[i], state[i + 1]);
        }
        for (; i < WORDS - 1; i++) {
            state[i] = state[i + MIDDLE - WORDS] ^ twist(state[i], state[i + 1]);
        }
        state[WORDS - 1] = state[MIDDLE - 1] ^ twist(state[WORDS - 1], state[0]);
        next = 0;
    }

    private static int twist(int upper, int lower) {
        int joined = (upper & UPPER_BIT) | (lower & LOWER_BITS);
        return (joined >>> 1) ^ ((joined & 1) == 0 ? 0 : TWIST);
    }
}
