package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.sample.Runs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * The progress of an epoch with batches in any order: the units that remained at its start, and the batches that one rank has taken
 * since. As text: {@code left= reached=40 before=40 rank=1 world=4 batch=8 taken=7 missing=2,4}.
 *
 * @param base the units that remained for all ranks together
 * @param before the number of samples that were consumed before
 * @param batch the number of units in a batch of a rank
 * @param taken one more than the largest number of a batch that was taken
 * @param missing earlier batches that were not taken
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record RankProgress(Rest base, long before, int rank, int world, long batch, long taken, long[] missing) {
    /** Checks that the numbers are consistent. */
    public RankProgress {
        if (world < 1 || rank < 0 || rank >= world || batch < 1 || taken < 0) {
            throw new IllegalArgumentException(
                    "not a rank's progress: rank=" + rank + " world=" + world + " batch=" + batch + " taken=" + taken);
        }
        var unused = Rest.of(missing, Math.max(taken, 1));
    }

    /** Returns the progress if no batch was taken since {@code base}. */
    public static RankProgress of(Rest base) {
        return new RankProgress(base, 0, 0, 1, 1, 0, new long[0]);
    }

    /** Parses a text of {@link #toString}; fails with {@link IllegalArgumentException} on any other. */
    public static RankProgress parse(String text) {
        Map<String, String> words = new HashMap<>();
        for (String word : text.split(" ", -1)) {
            int equals = word.indexOf('=');
            if (equals < 1 || words.put(word.substring(0, equals), word.substring(equals + 1)) != null) {
                throw new IllegalArgumentException("not a loader's progress: " + word);
            }
        }
        Rest base = Rest.of(Runs.parse(word(words, "left")), Long.parseLong(word(words, "reached")));
        if (words.size() == 2) {
            return of(base);
        }
        return new RankProgress(
                base,
                Long.parseLong(word(words, "before")),
                Integer.parseInt(word(words, "rank")),
                Integer.parseInt(word(words, "world")),
                Long.parseLong(word(words, "batch")),
                Long.parseLong(word(words, "taken")),
                Runs.parse(word(words, "missing")));
    }

    private static String word(Map<String, String> words, String name) {
        String value = words.get(name);
        if (value == null) {
            throw new IllegalArgumentException("it has no " + name);
        }
        return value;
    }

    /**
     * Returns the remaining units for all ranks together, from the batches that each rank has taken since the same start.
     *
     * @param units at least the number of the epoch's units
     */
    public static Rest merged(List<RankProgress> ranks, long units) {
        RankProgress first = ranks.get(0);
        long count = first.base.count(units);
        long turns = ranks.stream().mapToLong(RankProgress::taken).max().orElse(0);
        List<LongStream> left = new ArrayList<>();
        for (RankProgress rank : ranks) {
            LongStream batches = LongStream.concat(LongStream.of(rank.missing), LongStream.range(rank.taken, turns));
            left.add(batches.flatMap(number -> LongStream.range(number * rank.batch, (number + 1) * rank.batch))
                    .map(n -> n * rank.world + rank.rank));
        }
        long end = Math.min(count, Math.multiplyExact(Math.multiplyExact(turns, first.batch), (long) first.world));
        long[] passedOver = left.stream()
                .flatMapToLong(each -> each)
                .filter(n -> n < end)
                .sorted()
                .map(first.base::unit)
                .toArray();
        long[] rest = LongStream.concat(
                        LongStream.of(passedOver),
                        LongStream.range(end, Math.max(end, first.base.count(first.base.reached())))
                                .map(first.base::unit))
                .toArray();
        long reached = Math.max(first.base.reached(), first.base.unit(end));
        return rest.length == 0 ? Rest.from(reached) : Rest.of(rest, reached);
    }

    /** Returns the remaining units for the only rank. */
    public Rest rest(long units) {
        return merged(List.of(this), units);
    }

    /** Returns whether this and {@code other} belong to two ranks of one run. */
    public boolean goesWith(RankProgress other) {
        return world == other.world
                && batch == other.batch
                && before == other.before
                && base.toString().equals(other.base.toString());
    }

    @Override
    public String toString() {
        return base + " before=" + before + " rank=" + rank + " world=" + world + " batch=" + batch + " taken=" + taken
                + " missing=" + Runs.toText(missing);
    }
}
