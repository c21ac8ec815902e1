package dev.larder.loader.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.sample.Mt19937;
import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.internal.sample.Requirements;

/** Visits every row once, in the order of PyTorch's {@code randperm} on the CPU. */
final class RandomOrder implements SampleOrder {
    /** From here on PyTorch draws 64 bits for each row: {@code UINT32_MAX / 20}. */
    private static final long WIDE_DRAWS_FROM = 0xffff_ffffL / 20;

    private final int[] rows;

    private RandomOrder(int[] rows) {
        this.rows = rows;
    }

    static RandomOrder of(long rows, long seed) {
        if (rows > Requirements.MAX_ROWS) {
            throw Failure.of(ErrorCode.BAD_INPUT, "too many rows to shuffle")
                    .with("rows", rows)
                    .with("max", Requirements.MAX_ROWS)
                    .remedy("shuffle with Sampler.permuted(seed), whose orders take no memory");
        }
        int[] permutation = new int[Math.toIntExact(rows)];
        Mt19937 random = new Mt19937((int) seed);
        if (rows < WIDE_DRAWS_FROM) {
            shuffle(permutation, random);
        } else {
            shuffleWide(permutation, random);
        }
        return new RandomOrder(permutation);
    }

    /** Swaps each row with one that is not placed yet. */
    private static void shuffle(int[] rows, Mt19937 random) {
        for (int i = 0; i < rows.length; i++) {
            rows[i] = i;
        }
        for (int i = 0; i < rows.length - 1; i++) {
            OrderThread.requireWanted(i);
            int other = i + (int) (random.next32() % (rows.length - i));
            int row = rows[i];
            rows[i] = rows[other];
            rows[other] = row;
        }
    }

    /** Inserts each row among those placed before it: PyTorch's way where 32 bits would be visibly uneven. */
    static void shuffleWide(int[] rows, Mt19937 random) {
        for (int i = 0; i < rows.length; i++) {
            OrderThread.requireWanted(i);
            int other = (int) Long.remainderUnsigned(random.next64(), i + 1L);
            rows[i] = rows[other];
            rows[other] = i;
        }
    }

    @Override
    public long length() {
        return rows.length;
    }

    @Override
    public long row(long position) {
        return rows[Math.toIntExact(position)];
    }
}
