package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Records how far training has come: everything that {@link Loader#resume} needs to go on exactly there, with any number of
 * threads and ranks, and any batch size that divides the one of all ranks together.
 *
 * <p>As text one line of JSON, such as {@code {"format":1,"dataset":"mnist","digest":"…","sampler":"random(seed=42)","seed":42,
 * "epoch":3,"consumed":38400,"length":60000}}.
 *
 * @param dataset the dataset's name, for people
 * @param digest the identity of its contents
 * @param sampler what the sampler says of itself
 * @param seed what random transforms draw from
 * @param epoch the epoch
 * @param consumed how many samples of the epoch all ranks together have consumed
 * @param length how many samples all ranks together visit in the epoch
 * @param decoder what decodes JPEG images, and a fingerprint of how; empty where no field has images
 */
public record LoaderState(
        String dataset,
        String digest,
        String sampler,
        long seed,
        long epoch,
        long consumed,
        long length,
        String decoder) {
    private static final long FORMAT = 1;
    private static final int MAX_TEXT = 1 << 16;
    private static final Pattern PAIR = Pattern.compile(
            "\\G\\s*([{,])\\s*\"(\\w+)\"\\s*:\\s*(?:\"((?:[^\"\\\\]|\\\\[\"\\\\])*+)\"|(-?\\d{1,19}))\\s*");

    /** Checks that no more was consumed than there is. */
    public LoaderState {
        if (epoch < 0 || consumed < 0 || length < 0 || consumed > length) {
            throw new IllegalArgumentException(
                    "not a state: epoch=" + epoch + " consumed=" + consumed + " length=" + length);
        }
    }

    /** Records the state of a loader that decodes no images. */
    public LoaderState(
            String dataset, String digest, String sampler, long seed, long epoch, long consumed, long length) {
        this(dataset, digest, sampler, seed, epoch, consumed, length, "");
    }

    /** Returns whether nothing of the epoch is left. */
    public boolean isEpochDone() {
        return consumed == length;
    }

    /** Returns this as JSON in one line. */
    public String toJson() {
        return "{\"format\":" + FORMAT + ",\"dataset\":" + quoted(dataset) + ",\"digest\":" + quoted(digest)
                + ",\"sampler\":" + quoted(sampler) + ",\"seed\":" + seed + ",\"epoch\":" + epoch + ",\"consumed\":"
                + consumed + ",\"length\":" + length
                + (decoder.isEmpty() ? "" : ",\"decoder\":" + quoted(decoder)) + "}";
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Reads what {@link #toJson} wrote; fails with {@link ErrorCode#BAD_INPUT} on anything else. */
    public static LoaderState parse(String json) {
        Map<String, String> values = pairs(json);
        if (number(values, "format", json) != FORMAT) {
            throw malformed(json, "its format is " + values.get("format") + ", not " + FORMAT);
        }
        try {
            return new LoaderState(
                    text(values, "dataset", json),
                    text(values, "digest", json),
                    text(values, "sampler", json),
                    number(values, "seed", json),
                    number(values, "epoch", json),
                    number(values, "consumed", json),
                    number(values, "length", json),
                    values.getOrDefault("decoder", ""));
        } catch (IllegalArgumentException e) {
            throw malformed(json, e.getMessage() == null ? "" : e.getMessage());
        }
    }

    /** Takes a flat JSON object of texts and whole numbers apart. */
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
        if (values.isEmpty() || !json.substring(end).trim().equals("}")) {
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
                .with("state", json.length() > 100 ? json.substring(0, 100) + "…" : json)
                .with("reason", why)
                .remedy("pass the text that batch.stateAfter().toJson() returned");
    }
}
