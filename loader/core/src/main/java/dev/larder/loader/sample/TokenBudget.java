package dev.larder.loader.sample;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.internal.sample.Requirements;
import java.util.Arrays;
import java.util.OptionalLong;

/**
 * Batches of about equal cost: the longest sample of a batch times the number of its samples is within a budget. Samples of a batch have
 * similar lengths.
 *
 * <pre>{@code
 * TokenBudget.of(lengths).maxTokens(4096).shuffle(seed)
 * }</pre>
 *
 * <p>The samples of a window are sorted by length and cut into batches. With {@link #shuffle}, samples change windows in every epoch, and
 * batches change their order. An order takes 4 bytes a sample and 4 a batch, and is computed before its first row is available; the
 * number of batches differs a little between epochs. A sample of length 0 costs as much as one of length 1. Immutable.
 */
public final class TokenBudget implements LaidDownBatches {
    private static final long BATCHES_PER_WINDOW = 100;

    /** The most bytes for a row while an order is computed: two lists of rows, starts of batches, and a window's keys. */
    private static final int LAYING_BYTES = 4 * Integer.BYTES + Long.BYTES;

    private final Lengths lengths;
    private final Limits limits;
    private final OptionalLong seed;

    private TokenBudget(Lengths lengths, Limits limits, OptionalLong seed) {
        this.lengths = lengths;
        this.limits = limits;
        this.seed = seed;
    }

    /** The limits of a batch; 0 for one that is not set. */
    private record Limits(long maxTokens, int maxSamples, int window, boolean leavesOutLonger) {}

    /** Begins with the lengths of samples; {@link #maxTokens} is required. */
    public static TokenBudget of(Lengths lengths) {
        return new TokenBudget(lengths, new Limits(0, 0, 0, false), OptionalLong.empty());
    }

    /** Sets the budget: the most for the longest sample of a batch times the number of its samples. */
    public TokenBudget maxTokens(long tokens) {
        requirePositive("maxTokens", tokens);
        return with(new Limits(tokens, limits.maxSamples, limits.window, limits.leavesOutLonger));
    }

    /** Sets the most samples of a batch, even of short ones. */
    public TokenBudget maxSamples(int samples) {
        requirePositive("maxSamples", samples);
        return with(new Limits(limits.maxTokens, samples, limits.window, limits.leavesOutLonger));
    }

    /**
     * Sets the number of samples that are sorted together; by default, about 100 batches. A larger window needs less padding, but its
     * batches are less random.
     */
    public TokenBudget window(int samples) {
        requirePositive("window", samples);
        return with(new Limits(limits.maxTokens, limits.maxSamples, samples, limits.leavesOutLonger));
    }

    /** Omits samples that exceed the budget, which are an error otherwise; {@link #leftOut} counts them. */
    public TokenBudget leaveOutLonger() {
        return with(new Limits(limits.maxTokens, limits.maxSamples, limits.window, true));
    }

    /** Shuffles samples before they are sorted, and batches. Without it, windows are in the order of rows, the shortest row first in each. */
    public TokenBudget shuffle(long newSeed) {
        return new TokenBudget(lengths, limits, OptionalLong.of(newSeed));
    }

    private TokenBudget with(Limits newLimits) {
        return new TokenBudget(lengths, newLimits, seed);
    }

    private static void requirePositive(String what, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(what + " must be at least 1: " + what + "=" + value);
        }
    }

    /** Returns the number of samples that exceed the budget. */
    public long leftOut() {
        requireBudget();
        long longer = 0;
        for (long row = 0; row < lengths.rows(); row++) {
            longer += lengths.length(row) > limits.maxTokens ? 1 : 0;
        }
        return longer;
    }

    @Override
    public BatchOrder order(long rows, long epoch) {
        Requirements.sameRows("lengths", lengths.rows(), rows);
        requireBudget();
        Shuffles shuffles = new Shuffles(seed, epoch);
        int[] visited = visited(shuffles.of(rows, 0, Draws.WINDOWS));
        int[] starts = new int[visited.length + 1];
        int batches = 0;
        int window = window(visited);
        for (long start = 0; start < visited.length; start += window) {
            int end = (int) Math.min(visited.length, start + window);
            sort(visited, (int) start, end);
            batches = cut(visited, (int) start, end, starts, batches);
        }
        return CutBatches.of(visited, Arrays.copyOf(starts, batches + 1), shuffles.of(batches, 0, Draws.BATCHES));
    }

    /** Returns the rows to visit; fails if one is too long. */
    private int[] visited(SampleOrder order) {
        int[] visited = new int[(int) order.length()];
        int count = 0;
        for (long position = 0; position < order.length(); position++) {
            int row = (int) order.row(position);
            OrderThread.requireWanted((int) position);
            if (lengths.length(row) <= limits.maxTokens) {
                visited[count++] = row;
            } else if (!limits.leavesOutLonger) {
                throw Failure.of(ErrorCode.BAD_INPUT, "sample is longer than the budget of a batch")
                        .with("row", row)
                        .with("length", lengths.length(row))
                        .with("maxTokens", limits.maxTokens)
                        .remedy("raise maxTokens, or leaveOutLonger()");
            }
        }
        return Arrays.copyOf(visited, count);
    }

    private int window(int[] visited) {
        if (limits.window > 0) {
            return limits.window;
        }
        long tokens = 0;
        for (int row : visited) {
            tokens += cost(row);
        }
        double samplesPerBatch = (double) limits.maxTokens * visited.length / Math.max(1, tokens);
        return (int) Math.max(1, Math.min(visited.length, BATCHES_PER_WINDOW * samplesPerBatch));
    }

    /** Sorts a stretch of rows by length; equal ones stay in order. */
    private void sort(int[] rows, int start, int end) {
        long[] keys = new long[end - start];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = ((long) lengths.length(rows[start + i]) << Integer.SIZE) | i;
        }
        Arrays.sort(keys);
        int[] unsorted = Arrays.copyOfRange(rows, start, end);
        for (int i = 0; i < keys.length; i++) {
            rows[start + i] = unsorted[(int) keys[i]];
        }
    }

    /** Cuts a stretch of sorted rows into batches, and writes their ends to {@code starts}; returns the number of batches so far. */
    private int cut(int[] rows, int start, int end, int[] starts, int batchesBefore) {
        int batches = batchesBefore;
        int samples = 0;
        for (int i = start; i < end; i++) {
            if ((samples > 0 && samples == limits.maxSamples) || samples + 1L > limits.maxTokens / cost(rows[i])) {
                samples = 0;
            }
            if (samples++ == 0) {
                batches++;
            }
            starts[batches] = i + 1;
        }
        return batches;
    }

    private int cost(int row) {
        return Math.max(1, lengths.length(row));
    }

    private void requireBudget() {
        if (limits.maxTokens == 0) {
            throw new IllegalStateException("budget is not set; call maxTokens(…)");
        }
    }

    @Override
    public long heapBytes(long rows) {
        return LAYING_BYTES * rows;
    }

    @Override
    public BatchSampler over(Subset subset) {
        return new RestrictedBatches(new TokenBudget(lengths.over(subset), limits, seed), subset);
    }

    @Override
    public String description() {
        return "tokenBudget(" + lengths.description() + " maxTokens=" + limits.maxTokens + " maxSamples="
                + limits.maxSamples + " window=" + limits.window + (limits.leavesOutLonger ? " leavesOutLonger" : "")
                + (seed.isPresent() ? " seed=" + seed.getAsLong() : "") + ")";
    }

    @Override
    public String toString() {
        return description();
    }
}
