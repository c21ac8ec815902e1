package dev.larder.loader.internal.sample;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Formats ascending numbers briefly: {@code 3-9,12,20-44/4} are 3 to 9, 12, and every fourth number from 20 to 44. */
public final class Runs {
    /** The most numbers; longer texts are not from this class. */
    private static final int MOST = 1 << 24;

    private static final int SHORTEST = 3;
    private static final Pattern RUN = Pattern.compile("(\\d{1,18})(?:-(\\d{1,18})(?:/(\\d{1,18}))?)?");

    private Runs() {}

    /** Returns the text of ascending numbers. */
    public static String toText(long[] numbers) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < numbers.length; ) {
            int end = endOfRun(numbers, i);
            text.append(i == 0 ? "" : ",").append(numbers[i]);
            if (end - i < SHORTEST) {
                i++;
                continue;
            }
            long step = numbers[i + 1] - numbers[i];
            text.append('-').append(numbers[end - 1]).append(step == 1 ? "" : "/" + step);
            i = end;
        }
        return text.toString();
    }

    /** Returns the end of a run of numbers with equal distances. */
    private static int endOfRun(long[] numbers, int from) {
        int end = from + 1;
        while (end < numbers.length
                && (end == from + 1 || numbers[end] - numbers[end - 1] == numbers[from + 1] - numbers[from])) {
            end++;
        }
        return end;
    }

    /** Parses a text of {@link #toText}; fails with {@link IllegalArgumentException} on any other. */
    public static long[] parse(String text) {
        if (text.isEmpty()) {
            return new long[0];
        }
        long[] numbers = new long[16];
        int count = 0;
        for (String part : text.split(",", -1)) {
            Matcher run = RUN.matcher(part);
            if (!run.matches()) {
                throw new IllegalArgumentException("not a run of numbers: " + part);
            }
            long first = Long.parseLong(run.group(1));
            long last = run.group(2) == null ? first : Long.parseLong(run.group(2));
            long step = run.group(3) == null ? 1 : Long.parseLong(run.group(3));
            if (last < first || step < 1 || (last - first) / step >= MOST - count) {
                throw new IllegalArgumentException("not a run of numbers: " + part);
            }
            for (long number = first; number <= last; number += step) {
                if (count == numbers.length) {
                    numbers = Arrays.copyOf(numbers, 2 * count);
                }
                numbers[count++] = number;
            }
        }
        return Arrays.copyOf(numbers, count);
    }
}
