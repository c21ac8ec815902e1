package dev.larder.loader.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.sample.Interleaving;
import dev.larder.loader.internal.sample.LaidDown;
import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.sample.Mixture.Exhausted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/** Visits the rows of several sources, which follow each other, in proportion to weights. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record MixedSampler(
        String description,
        Sampler within,
        double[] weights,
        Exhausted exhausted,
        long samples,
        long seed,
        long[] sizes)
        implements Sampler, LaidDown {
    @Override
    public SampleOrder order(long rows, long epoch) {
        long all = Arrays.stream(sizes).sum();
        if (rows != all) {
            throw Failure.of(ErrorCode.BAD_INPUT, "sources of a mixture have other rows than the loader")
                    .with("rows", rows)
                    .with("ofSources", all)
                    .remedy("give the number of rows of each source");
        }
        return new MixedOrder(epoch, stretches(epoch));
    }

    @Override
    public long heapBytes(long rows) {
        return Arrays.stream(sizes)
                .map(size -> OrderThread.heapBytes(within, size))
                .sum();
    }

    @Override
    public String toString() {
        return description;
    }

    /** Returns the number of rows of each source that are visited before a position. */
    long[] countsAfter(long epoch, long position) {
        List<Stretch> stretches = stretches(epoch);
        Stretch stretch = stretches.get(0);
        for (Stretch each : stretches) {
            stretch = each.first <= position ? each : stretch;
        }
        long[] counts = stretch.before.clone();
        for (int i = 0; i < stretch.sources.length; i++) {
            counts[stretch.sources[i]] += stretch.places.countBefore(position - stretch.first, i);
        }
        return counts;
    }

    /** Divides an epoch into stretches with the same sources: one, unless sources drop out. */
    private List<Stretch> stretches(long epoch) {
        List<Stretch> stretches = new ArrayList<>();
        long[] before = new long[sizes.length];
        int[] sources = IntStream.range(0, sizes.length).toArray();
        for (long first = 0; sources.length > 0; ) {
            int[] active = sources;
            double[] shares =
                    Arrays.stream(active).mapToDouble(source -> weights[source]).toArray();
            Interleaving places = new Interleaving(shares, seed + stretches.size(), epoch);
            long[] ends = IntStream.range(0, active.length)
                    .mapToLong(i -> places.positionsFor(left(active[i], before), i))
                    .toArray();
            long length = length(places, ends);
            stretches.add(new Stretch(first, length, active, places, before.clone()));
            if (exhausted != Exhausted.UNTIL_ALL) {
                return stretches;
            }
            for (int i = 0; i < active.length; i++) {
                before[active[i]] += places.countBefore(length, i);
            }
            sources = Arrays.stream(active)
                    .filter(source -> left(source, before) > 0)
                    .toArray();
            first += length;
        }
        return stretches;
    }

    private long left(int source, long[] before) {
        return sizes[source] - before[source];
    }

    /** Returns the length of a stretch, given the positions at which each of its sources has no rows left. */
    private long length(Interleaving places, long[] ends) {
        return switch (exhausted) {
            case UNTIL_ALL -> Arrays.stream(ends).min().orElseThrow();
            case STOP -> // until the first source has no rows left
                IntStream.range(0, sizes.length)
                        .mapToLong(i -> places.positionsFor(sizes[i] + 1, i) - 1)
                        .min()
                        .orElseThrow();
            case REPEAT -> samples > 0 ? samples : Arrays.stream(ends).max().orElseThrow();
        };
    }

    /**
     * Positions with the same sources.
     *
     * @param before the number of rows of each source that are visited before it
     */
    private record Stretch(long first, long length, int[] sources, Interleaving places, long[] before) {}

    /** The order of a source in one of its own epochs. */
    private record Pass(long number, SampleOrder order) {}

    private final class MixedOrder implements SampleOrder {
        /** The number of cached orders of a repeated source: threads may still use an earlier one. */
        private static final int KEPT = 4;

        private final Stretch[] stretches;
        private final long length;
        private final long[] firstRows = new long[sizes.length];

        /** The number of the first order of each source in this epoch. */
        private final long[] firstPasses = new long[sizes.length];

        private final List<AtomicReferenceArray<Pass>> passes = new ArrayList<>();

        MixedOrder(long epoch, List<Stretch> stretches) {
            this.stretches = stretches.toArray(Stretch[]::new);
            Stretch last = this.stretches[this.stretches.length - 1];
            this.length = last.first + last.length;
            long[] counts = countsAfter(epoch, length);
            for (int i = 0; i < sizes.length; i++) {
                firstRows[i] = i == 0 ? 0 : firstRows[i - 1] + sizes[i - 1];
                long perEpoch = Math.max(1, (counts[i] + sizes[i] - 1) / sizes[i]);
                firstPasses[i] = Math.multiplyExact(epoch, perEpoch);
                passes.add(new AtomicReferenceArray<>(KEPT));
                SampleOrder first = pass(i, 0); // here, because samplers may be slow
                if (first.length() != sizes[i]) {
                    throw Failure.of(ErrorCode.BAD_INPUT, "sampler does not visit each row of a source once")
                            .with("source", i)
                            .with("rows", sizes[i])
                            .with("visited", first.length())
                            .remedy(
                                    "mix sources in the order of sequential(), shuffle(seed) or Sampler.permuted(seed)");
                }
            }
        }

        private SampleOrder pass(int source, long number) {
            AtomicReferenceArray<Pass> kept = passes.get(source);
            int place = (int) (number % KEPT);
            Pass pass = kept.get(place);
            if (pass == null || pass.number != number) { // two threads may compute the same order, which is harmless
                pass = new Pass(number, within.order(sizes[source], firstPasses[source] + number));
                kept.set(place, pass);
            }
            return pass.order;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public long row(long position) {
            Stretch stretch = stretches[0];
            for (int i = 1; i < stretches.length && stretches[i].first <= position; i++) {
                stretch = stretches[i];
            }
            long found = stretch.places.find(position - stretch.first);
            int source = stretch.sources[Interleaving.source(found)];
            long visited = stretch.before[source] + Interleaving.countBefore(found);
            return firstRows[source] + pass(source, visited / sizes[source]).row(visited % sizes[source]);
        }
    }
}
