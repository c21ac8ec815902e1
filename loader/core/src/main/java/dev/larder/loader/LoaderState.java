package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.plan.RankProgress;
import dev.larder.loader.internal.plan.Rest;
import dev.larder.loader.internal.slot.Receipt;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The state of training from which {@link Loader#resume} continues exactly, with any number of threads and ranks, and any batch size that
 * divides the one of all ranks together.
 *
 * <p>As text, it is one line of JSON, such as {@code {"format":1,"dataset":"mnist","digest":"…","sampler":"random(seed=42)","seed":42,
 * "epoch":3,"consumed":38400,"length":60000}}. If batches come in any order ({@link LoaderBuilder#inAnyOrder}), a number is
 * not enough: such a state has {@code "format":2} and {@code "progress"}, which lists the remaining samples.
 *
 * @param dataset the dataset's name, for people
 * @param digest the identity of its contents
 * @param sampler the description of the sampler
 * @param seed the seed of random transforms
 * @param epoch the epoch
 * @param consumed the number of samples of the epoch that all ranks together have consumed
 * @param length the number of samples that all ranks together visit in the epoch
 * @param decoder the JPEG decoder, with a fingerprint of its results; empty if no field has images
 * @param progress the remaining samples, if {@code consumed} is not enough; else empty. For one of several ranks with batches in any
 *     order, the batches that it has taken: see {@link #merged}
 * @param places the visited rows of each of several datasets, for people, such as {@code web=1200 books=600}; empty if they have one order
 * @param receipt a digest of the dataset and of the samples that all ranks together have consumed in the epoch, at their positions; after
 *     skipped samples, a hyphen and a digest of these follow. Empty if it is unknown
 */
public record LoaderState(
        String dataset,
        String digest,
        String sampler,
        long seed,
        long epoch,
        long consumed,
        long length,
        String decoder,
        String progress,
        String places,
        String receipt) {
    private static final long FORMAT = 1;
    private static final long FORMAT_WITH_PROGRESS = 2; // other releases would visit other samples
    private static final int MAX_TEXT = 1 << 20;
    private static final Pattern PAIR = Pattern.compile(
            "\\G\\s*([{,])\\s*\"(\\w+)\"\\s*:\\s*(?:\"((?:[^\"\\\\]|\\\\[\"\\\\])*+)\"|(-?\\d{1,19}))\\s*");

    /** Checks that {@code consumed} is at most {@code length}, and that {@code receipt} is a receipt or empty. */
    public LoaderState {
        if (epoch < 0 || consumed < 0 || length < 0 || consumed > length) {
            throw new IllegalArgumentException(
                    "not a state: epoch=" + epoch + " consumed=" + consumed + " length=" + length);
        }
        var unused = receipt.isEmpty() ? Receipt.NONE : Receipt.parse(receipt);
    }

    /** Creates the state of an epoch with its first samples consumed. */
    public LoaderState(
            String dataset, String digest, String sampler, long seed, long epoch, long consumed, long length) {
        this(dataset, digest, sampler, seed, epoch, consumed, length, "", "", "", "");
    }

    /**
     * Merges the states of all ranks, each saved at any time, for loaders that deliver batches in any order. Ranks that deliver them in
     * order have equal states, and the first is returned; only receipts differ by samples that a rank has skipped, and are combined. If
     * each node has a shard and batches come in any order, merge the states of each node separately, because they list rows of that node.
     * Fails with {@link IllegalArgumentException} if states are missing or do not belong together.
     */
    public static LoaderState merged(List<LoaderState> ofAllRanks) {
        if (ofAllRanks.isEmpty()) {
            throw new IllegalArgumentException("there is no state");
        }
        LoaderState first = ofAllRanks.get(0);
        RankProgress firstProgress = first.parsedProgress();
        if (firstProgress == null || firstProgress.world() == 1) {
            requireOneNode(ofAllRanks);
            for (LoaderState state : ofAllRanks) {
                if (!state.withSkipped(0).equals(first.withSkipped(0))) {
                    throw first.apartFrom(
                            state, "states of ranks differ", "merge states that all ranks saved after the same batch");
                }
            }
            // Each rank skips samples of its own, so equal sums are of one rank.
            return first.withSkipped(ofAllRanks.stream()
                    .mapToLong(state -> state.parsedReceipt().skipped())
                    .distinct()
                    .sum());
        }
        requireOneNode(ofAllRanks);
        List<RankProgress> ranks = new ArrayList<>();
        Set<Integer> seen = new TreeSet<>();
        long consumed = firstProgress.before();
        Receipt receipt = Receipt.NONE;
        for (LoaderState state : ofAllRanks) {
            RankProgress rank = state.parsedProgress();
            if (rank == null || !rank.goesWith(firstProgress) || !first.isOfSameEpoch(state)) {
                throw first.apartFrom(
                        state, "states are not those of the ranks of one run", "merge those of one run and epoch");
            }
            if (!seen.add(rank.rank())) {
                throw new IllegalArgumentException("states are not those of the ranks of one run: rank=" + rank.rank()
                        + " states=2; give one of each rank");
            }
            ranks.add(rank);
            consumed += state.consumed - rank.before();
            receipt = receipt.plus(state.parsedReceipt());
        }
        if (seen.size() != firstProgress.world()) {
            throw new IllegalArgumentException(
                    "states of some ranks are missing: ranks=" + seen + " world=" + firstProgress.world());
        }
        boolean hasReceipt = ofAllRanks.stream().noneMatch(state -> state.receipt.isEmpty());
        Rest rest = RankProgress.merged(ranks, first.length);
        return new LoaderState(
                first.dataset,
                first.digest,
                first.sampler,
                first.seed,
                first.epoch,
                consumed,
                first.length,
                first.decoder,
                rest.hasGaps() ? rest.toString() : "",
                "",
                hasReceipt ? receipt.toString() : "");
    }

    /** Returns the parsed receipt, or that of no samples if it is unknown. */
    private Receipt parsedReceipt() {
        return receipt.isEmpty() ? Receipt.NONE : Receipt.parse(receipt);
    }

    private LoaderState withSkipped(long skipped) {
        String changed = receipt.isEmpty() ? "" : new Receipt(parsedReceipt().visited(), skipped).toString();
        return new LoaderState(
                dataset, digest, sampler, seed, epoch, consumed, length, decoder, progress, places, changed);
    }

    private static void requireOneNode(List<LoaderState> states) {
        Set<String> digests = new TreeSet<>();
        Set<String> wholes = new TreeSet<>();
        for (LoaderState state : states) {
            digests.add(state.digest);
            wholes.add(state.digest.replaceAll(SourceData.HERE + "\\d+", ""));
        }
        if (digests.size() > 1 && wholes.size() == 1) {
            throw new IllegalArgumentException(
                    "states are of ranks on several nodes, each of which has a shard: digests=" + digests
                            + "; merge those of each node separately, and resume each on its node");
        }
    }

    private boolean isOfSameEpoch(LoaderState other) {
        return digest.equals(other.digest)
                && sampler.equals(other.sampler)
                && seed == other.seed
                && epoch == other.epoch
                && length == other.length
                && decoder.equals(other.decoder);
    }

    /** Returns an error with both values of each field that differs. */
    private IllegalArgumentException apartFrom(LoaderState other, String failure, String remedy) {
        Map<String, String> ours = pairs(toJson());
        Map<String, String> theirs = pairs(other.toJson());
        Set<String> keys = new LinkedHashSet<>(ours.keySet());
        keys.addAll(theirs.keySet());
        String fields = keys.stream()
                .filter(key -> !Objects.equals(ours.get(key), theirs.get(key)))
                .map(key -> " " + key + "=" + cut(ours.get(key)) + " and " + cut(theirs.get(key)))
                .collect(Collectors.joining());
        return new IllegalArgumentException(failure + ":" + fields + "; " + remedy);
    }

    /** Returns the parsed progress, or null if there is none. */
    @Nullable
    RankProgress parsedProgress() {
        try {
            return progress.isEmpty() ? null : RankProgress.parse(progress);
        } catch (IllegalArgumentException e) {
            throw malformed(toJson(), "its \"progress\" cannot be read: " + e.getMessage());
        }
    }

    /** Returns whether the epoch has no remaining samples. For one of several ranks with batches in any order, use {@link #merged} first. */
    public boolean isEpochDone() {
        return consumed == length;
    }

    /** Returns this as JSON in one line. */
    public String toJson() {
        return "{\"format\":" + (progress.isEmpty() ? FORMAT : FORMAT_WITH_PROGRESS) + ",\"dataset\":" + quoted(dataset)
                + ",\"digest\":" + quoted(digest)
                + ",\"sampler\":" + quoted(sampler) + ",\"seed\":" + seed + ",\"epoch\":" + epoch + ",\"consumed\":"
                + consumed + ",\"length\":" + length
                + (receipt.isEmpty() ? "" : ",\"receipt\":" + quoted(receipt))
                + (decoder.isEmpty() ? "" : ",\"decoder\":" + quoted(decoder))
                + (progress.isEmpty() ? "" : ",\"progress\":" + quoted(progress))
                + (places.isEmpty() ? "" : ",\"places\":" + quoted(places)) + "}";
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Parses a text of {@link #toJson}; fails with {@link ErrorCode#BAD_INPUT} on any other. */
    public static LoaderState parse(String json) {
        Map<String, String> values = pairs(json);
        long format = number(values, "format", json);
        if (format != FORMAT && format != FORMAT_WITH_PROGRESS) {
            throw malformed(json, "its format is " + format + ", not " + FORMAT + " or " + FORMAT_WITH_PROGRESS);
        }
        try {
            LoaderState state = new LoaderState(
                    text(values, "dataset", json),
                    text(values, "digest", json),
                    text(values, "sampler", json),
                    number(values, "seed", json),
                    number(values, "epoch", json),
                    number(values, "consumed", json),
                    number(values, "length", json),
                    values.getOrDefault("decoder", ""),
                    format == FORMAT ? "" : text(values, "progress", json),
                    values.getOrDefault("places", ""),
                    values.getOrDefault("receipt", ""));
            var unused = state.parsedProgress();
            return state;
        } catch (IllegalArgumentException e) {
            throw malformed(json, e.getMessage() == null ? "" : e.getMessage());
        }
    }

    /** Parses a flat JSON object of texts and integers. */
    private static Map<String, String> pairs(String json) {
        if (json.length() > MAX_TEXT) {
            throw malformed(json, "it has " + json.length() + " characters");
        }
        Map<String, String> values = new LinkedHashMap<>();
        Matcher pair = PAIR.matcher(json);
        int end = 0;
        while (pair.find()) {
            String text = pair.group(3);
            String value =
                    text == null ? pair.group(4) : text.replace("\\\"", "\"").replace("\\\\", "\\");
            if (pair.group(1).equals("{") != values.isEmpty() || values.put(pair.group(2), value) != null) {
                throw malformed(json, "it is not a flat object");
            }
            end = pair.end();
        }
        if (!json.substring(end).trim().equals(values.isEmpty() ? "{}" : "}")) {
            throw malformed(json, "it is not a JSON object of strings and integers, at character " + end);
        }
        return values;
    }

    private static String text(Map<String, String> values, String key, String json) {
        String value = values.get(key);
        if (value == null) {
            throw malformed(json, "it has no \"" + key + "\"");
        }
        return value;
    }

    private static long number(Map<String, String> values, String key, String json) {
        try {
            return Long.parseLong(text(values, key, json));
        } catch (NumberFormatException e) {
            throw malformed(json, "its \"" + key + "\" is not a number");
        }
    }

    private static RuntimeException malformed(String json, String why) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read a loader's state")
                .with("state", cut(json))
                .with("reason", why)
                .remedy("pass the text that batch.stateAfter().toJson() returned");
    }

    private static String cut(@Nullable String text) {
        return text == null ? "none" : text.length() > 100 ? text.substring(0, 100) + "…" : text;
    }
}
