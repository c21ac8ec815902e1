package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.AliasTable;
import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.internal.sample.Requirements;
import dev.larder.loader.internal.sample.Weights;
import java.util.Objects;

/** Draws rows by weight, with replacement. */
record WeightedSampler(Weights weights, AliasTable table, long samples, long seed) implements Sampler {
    static WeightedSampler of(double[] weights, long samples, long seed) {
        if (samples < 0) {
            throw new IllegalArgumentException("samples must be at least 0: samples=" + samples);
        }
        Weights checked = Weights.of(weights, 1);
        return new WeightedSampler(checked, AliasTable.of(checked), samples, seed);
    }

    @Override
    public SampleOrder order(long rows, long epoch) {
        Requirements.sameRows("weights", weights.rows(), rows);
        return new Order(table, samples, seed, epoch);
    }

    @Override
    public Sampler over(Subset subset) {
        return new RestrictedSampler(of(weights.over(subset.list()), samples, seed), subset);
    }

    @Override
    public String description() {
        return "weighted(" + weights.description() + " samples=" + samples + " seed=" + seed + ")";
    }

    @Override
    public String toString() {
        return description();
    }

    private record Order(AliasTable table, long length, long seed, long epoch) implements SampleOrder {
        @Override
        public long row(long position) {
            Objects.checkIndex(position, length);
            return table.draw(Philox.bits(seed, epoch, position, Draws.WEIGHTED));
        }
    }
}
