package dev.larder.launch.grid;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A parameter and its values, as text. */
public record Axis(String name, List<String> values) {
    static final int MOST_VALUES = 100_000;

    static final String NAME = "[A-Za-z_][A-Za-z0-9_-]*";

    private static final String NUMBER = "[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:[eE][+-]?\\d{1,3})?";
    private static final Pattern AXIS = Pattern.compile("(" + NAME + ")=(.*)", Pattern.DOTALL);
    private static final Pattern RANGE =
            Pattern.compile("(" + NUMBER + ")\\.\\.(" + NUMBER + ")(?::(" + NUMBER + "))?");

    /** Copies the collections. */
    public Axis {
        values = List.copyOf(values);
    }

    /**
     * Parses {@code lr=1e-3,1e-4}, {@code seed=0..3} (both ends included) or {@code drop=0..1:0.25} (with a step), and mixtures.
     */
    public static Axis parse(String text) {
        Matcher matcher = AXIS.matcher(text);
        if (!matcher.matches()) {
            throw usage("not a parameter", text, "give NAME=VALUE,VALUE or NAME=0..3, and put -- before the command");
        }
        List<String> values = new ArrayList<>();
        for (String part : matcher.group(2).split(",", -1)) {
            Matcher range = RANGE.matcher(part);
            if (range.matches()) {
                addRange(text, range, values);
            } else {
                values.add(part);
            }
        }
        Set<String> seen = new HashSet<>();
        values.forEach(value -> {
            if (!seen.add(value)) {
                throw usage("duplicate value: '" + value + "'", text, "give each value once");
            }
        });
        return new Axis(matcher.group(1), values);
    }

    /** Returns the variable with the value for a job: letters are capitals, and other characters than letters and digits are _. */
    public String variable() {
        return "LARDER_PARAM_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static void addRange(String text, Matcher range, List<String> values) {
        BigDecimal first = new BigDecimal(range.group(1));
        BigDecimal last = new BigDecimal(range.group(2));
        BigDecimal step = range.group(3) == null ? BigDecimal.ONE : new BigDecimal(range.group(3));
        if (step.signum() == 0 || last.subtract(first).signum() * step.signum() < 0) {
            throw usage(
                    "a range without values: " + range.group(),
                    text,
                    "give a step that leads from the first value to the last, such as 3..0:-1");
        }
        BigDecimal count = last.subtract(first).divideToIntegralValue(step);
        if (count.compareTo(BigDecimal.valueOf(MOST_VALUES)) >= 0) {
            throw usage("a range has too many values: " + range.group(), text, "give " + MOST_VALUES + " at most");
        }
        for (int i = 0; i <= count.intValueExact(); i++) {
            values.add(first.add(step.multiply(BigDecimal.valueOf(i)))
                    .stripTrailingZeros()
                    .toPlainString());
        }
    }

    private static LarderException usage(String what, String text, String remedy) {
        return Failure.of(ErrorCode.USAGE, what).with("parameter", text).remedy(remedy);
    }
}
