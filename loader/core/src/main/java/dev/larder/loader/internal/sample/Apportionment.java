package dev.larder.loader.internal.sample;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Divides whole numbers by fractions that a double cannot represent exactly: 0.1 counts as one tenth, fractions are divided by their
 * sum, and a share within a billionth of a whole number counts as that number.
 */
final class Apportionment {
    private static final BigDecimal TOLERANCE = BigDecimal.valueOf(1, 9);

    private final BigDecimal[] fractions;
    private final BigDecimal sum;

    private Apportionment(BigDecimal[] fractions, BigDecimal sum) {
        this.fractions = fractions;
        this.sum = sum;
    }

    static Apportionment of(double... fractions) {
        for (double fraction : fractions) {
            if (!(fraction > 0)) {
                throw new IllegalArgumentException(
                        "fractions must be above 0: fractions=" + Arrays.toString(fractions));
            }
        }
        double sum = Arrays.stream(fractions).sum();
        if (!(Math.abs(sum - 1) <= TOLERANCE.doubleValue())) {
            throw new IllegalArgumentException(
                    "fractions must be 1 in sum: sum=" + sum + " fractions=" + Arrays.toString(fractions));
        }
        BigDecimal[] exact =
                Arrays.stream(fractions).mapToObj(BigDecimal::valueOf).toArray(BigDecimal[]::new);
        return new Apportionment(exact, Arrays.stream(exact).reduce(BigDecimal.ZERO, BigDecimal::add));
    }

    int parts() {
        return fractions.length;
    }

    /** Returns a part's share of a total, rounded down. */
    long floor(long total, int part) {
        return quotient(total, part)[0].longValueExact();
    }

    /** Returns the remainder of {@link #floor}, times a factor that is the same for all parts. */
    BigDecimal remainder(long total, int part) {
        BigDecimal both = sum.multiply(TOLERANCE.add(TOLERANCE)); // the tolerance that was added, and one more
        return quotient(total, part)[1].subtract(both).max(BigDecimal.ZERO);
    }

    private BigDecimal[] quotient(long total, int part) {
        BigDecimal shareOfSum = fractions[part].multiply(BigDecimal.valueOf(total));
        return shareOfSum.add(sum.multiply(TOLERANCE)).divideAndRemainder(sum);
    }

    /** Returns the sizes of all parts: rounded down, except for the parts with the largest remainders. */
    long[] sizes(long total) {
        long[] sizes = new long[parts()];
        long left = total;
        for (int part = 0; part < sizes.length; part++) {
            sizes[part] = floor(total, part);
            left -= sizes[part];
        }
        IntStream.range(0, sizes.length)
                .boxed()
                .sorted(Comparator.comparing((Integer part) -> remainder(total, part))
                        .reversed())
                .limit(left)
                .forEach(part -> sizes[part]++);
        return sizes;
    }
}
