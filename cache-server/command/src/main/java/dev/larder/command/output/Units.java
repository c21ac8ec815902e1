package dev.larder.command.output;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses and formats sizes and durations for people. */
public final class Units {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,18})([kmgt]?)", Pattern.CASE_INSENSITIVE);
    private static final Pattern DURATION = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");
    private static final int STEP = 1024;
    private static final String STEPS = "kmgt";

    private Units() {}

    /** Parses {@code 512m}; returns bytes. */
    static long parseSize(String text) {
        Matcher matcher = SIZE.matcher(text);
        if (!matcher.matches()) {
            throw new TypeConversionException("not a size: '" + text + "' (a size is 4096, 512m or 10g)");
        }
        long size = Long.parseLong(matcher.group(1));
        int steps = matcher.group(2).isEmpty()
                ? 0
                : 1 + STEPS.indexOf(matcher.group(2).toLowerCase(Locale.ROOT));
        try {
            for (int step = 0; step < steps; step++) {
                size = Math.multiplyExact(size, STEP);
            }
            return size;
        } catch (ArithmeticException e) {
            throw new TypeConversionException("size is too large: '" + text + "'");
        }
    }

    /** Parses {@code 30s}, {@code 5m} or {@code 2h}. */
    static Duration parseDuration(String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw new TypeConversionException("not a duration: '" + text + "' (a duration is 500ms, 30s, 5m or 2h)");
        }
        long count = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
    }

    /** Formats bytes as {@code 52.4 MiB}. */
    public static String size(long bytes) {
        if (bytes < STEP) {
            return bytes + " B";
        }
        double value = bytes;
        int step = -1;
        while (value >= STEP - 0.05 && step < STEPS.length() - 1) {
            value /= STEP;
            step++;
        }
        return String.format(Locale.ROOT, "%.1f %siB", value, Character.toUpperCase(STEPS.charAt(step)));
    }

    /** Formats a duration as {@code 0.4 s}, {@code 3 min 20 s} or {@code 2 h 5 min}. */
    public static String duration(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 60) {
            return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
        }
        return seconds < 3600
                ? seconds / 60 + " min " + seconds % 60 + " s"
                : seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
    }

    /** Reads sizes for picocli. */
    public static final class SizeConverter implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return parseSize(text);
        }
    }

    /** Reads durations for picocli. */
    public static final class DurationConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return parseDuration(text);
        }
    }
}
