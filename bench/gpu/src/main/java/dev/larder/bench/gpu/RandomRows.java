package dev.larder.bench.gpu;

import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;

/** Draws random rows with repetition. Unlike a shuffle, it needs no memory and no time to start. */
record RandomRows(long samples) implements Sampler {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    @Override
    public SampleOrder order(long rows, long epoch) {
        return new SampleOrder() {
            @Override
            public long length() {
                return samples;
            }

            @Override
            public long row(long position) {
                return Math.floorMod(mix(position * GOLDEN + epoch), rows);
            }
        };
    }

    private static long mix(long bits) {
        long mixed = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
