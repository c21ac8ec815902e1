package dev.larder.loader.sample;

import java.util.stream.LongStream;

/** Deals an epoch out. */
final class Shards {
    private Shards() {}

    /** Returns the units that a rank visits: those beyond the last stand for the first ones again. */
    static long[] units(Shard shard, long units) {
        return LongStream.range(0, shard.count(units))
                .map(n -> shard.unit(n) % units)
                .toArray();
    }
}
