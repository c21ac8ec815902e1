package dev.larder.testing;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Spoils valid messages, each with its NUL byte, the way a bug, a torn connection or an enemy would. The same seed spoils in the same way. */
public final class MessageMutator {
    private static final int MOST_STEPS = 3;
    private static final int MOST_GARBAGE = 300;
    private static final Pattern VALUE = Pattern.compile(":(\"[^\"]*\"|-?[0-9]+|true|false)");
    private static final List<String> VALUES = List.of(
            "null",
            "true",
            "-1",
            "0",
            "1e3",
            "1.5",
            "-0",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775809",
            "9".repeat(5_000),
            "[]",
            "{}",
            "[".repeat(2_000),
            "{\"a\":".repeat(300),
            "[[[[[[[[1]]]]]]]]",
            "\"\"",
            "\"a/b\"",
            "\"../x\"",
            "\"\\ud800\"",
            "\"\\u0000\"",
            "\"\\q\"",
            "\"" + "n".repeat(2_000) + "\"",
            "\"" + "p".repeat(70_000) + "\"",
            "NaN",
            "'x'");

    private final Random random;
    private final List<byte[]> samples;

    /** Creates one that starts from these messages. */
    public MessageMutator(long seed, List<byte[]> samples) {
        this.random = new Random(seed);
        this.samples = List.copyOf(samples);
    }

    /** Returns the next spoiled message, or bytes that were never one. */
    public byte[] next() {
        byte[] message = sample();
        for (int step = random.nextInt(MOST_STEPS); step >= 0; step--) {
            message = message.length < 2 ? sample() : mutate(message);
        }
        return message;
    }

    /** Returns one of the valid messages. */
    public byte[] sample() {
        return samples.get(random.nextInt(samples.size())).clone();
    }

    private byte[] mutate(byte[] message) {
        return switch (random.nextInt(11)) {
            case 0 -> flipBits(message);
            case 1 -> Arrays.copyOf(message, random.nextInt(message.length));
            case 2 -> ended(Arrays.copyOf(message, random.nextInt(message.length)));
            case 3 -> splice(message, sample());
            case 4 -> repeat(message);
            case 5 -> drop(message);
            case 6 -> random.nextInt(4) == 0 ? garbage() : flipBits(message);
            case 7 ->
                text(message)
                        .replaceFirst("\"parameters\":\\{", "\"parameters\":{\"unknown\":1,")
                        .getBytes(StandardCharsets.UTF_8);
            default -> otherValue(message);
        };
    }

    private byte[] flipBits(byte[] message) {
        for (int flips = random.nextInt(8); flips >= 0; flips--) {
            message[random.nextInt(message.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return message;
    }

    /** Gives one field another value. */
    private byte[] otherValue(byte[] message) {
        String text = text(message);
        List<MatchResult> found = VALUE.matcher(text).results().toList();
        if (found.isEmpty()) {
            return flipBits(message);
        }
        MatchResult place = found.get(random.nextInt(found.size()));
        String value = VALUES.get(random.nextInt(VALUES.size()));
        return (text.substring(0, place.start(1)) + value + text.substring(place.end(1)))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] message) {
        return new String(message, StandardCharsets.UTF_8);
    }

    /** Puts the end of another message behind the beginning of this one. */
    private byte[] splice(byte[] message, byte[] other) {
        int head = random.nextInt(message.length);
        int from = random.nextInt(other.length);
        byte[] spliced = Arrays.copyOf(message, head + other.length - from);
        System.arraycopy(other, from, spliced, head, other.length - from);
        return spliced;
    }

    /** Has a part, such as an element of a list, several times. */
    private byte[] repeat(byte[] message) {
        int from = random.nextInt(message.length);
        int part = 1 + random.nextInt(message.length - from);
        int times = 1 + random.nextInt(random.nextInt(50) == 0 ? 1_000 : 4);
        byte[] repeated = new byte[message.length + times * part];
        System.arraycopy(message, 0, repeated, 0, from);
        for (int i = 0; i < times; i++) {
            System.arraycopy(message, from, repeated, from + i * part, part);
        }
        System.arraycopy(message, from, repeated, from + times * part, message.length - from);
        return repeated;
    }

    private byte[] drop(byte[] message) {
        int from = random.nextInt(message.length);
        int part = 1 + random.nextInt(message.length - from);
        byte[] shorter = Arrays.copyOf(message, message.length - part);
        System.arraycopy(message, from + part, shorter, from, message.length - from - part);
        return shorter;
    }

    private byte[] garbage() {
        byte[] garbage = new byte[1 + random.nextInt(MOST_GARBAGE)];
        random.nextBytes(garbage);
        return ended(garbage);
    }

    private static byte[] ended(byte[] message) {
        return Arrays.copyOf(message, message.length + 1);
    }
}
