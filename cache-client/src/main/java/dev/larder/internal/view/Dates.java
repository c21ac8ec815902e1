package dev.larder.internal.view;

import dev.larder.npy.Dtype;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts numpy's counts of years, seconds, nanoseconds, … since 1970 to instants in UTC. */
public final class Dates {
    /** The count that numpy prints as NaT. */
    private static final long NOT_A_TIME = Long.MIN_VALUE;

    private static final Pattern UNIT = Pattern.compile("[<>]M8\\[(?<multiple>[0-9]*)(?<unit>[A-Za-z]+)]");
    private static final long NANOS = 1_000_000_000;

    private Dates() {}

    /** Returns the instant of a count in the unit of a dtype. Throws {@link ArithmeticException} if it is out of range. */
    public static @Nullable Instant instant(Dtype dtype, long count) {
        if (count == NOT_A_TIME) {
            return null;
        }
        Matcher matcher = UNIT.matcher(dtype.descr());
        if (!matcher.matches()) {
            throw new ArithmeticException("dates without a unit have no meaning: dtype=" + dtype);
        }
        String multiple = matcher.group("multiple");
        try {
            long steps = multiple.isEmpty() ? count : Math.multiplyExact(count, Long.parseLong(multiple));
            return instant(matcher.group("unit"), steps);
        } catch (DateTimeException | ArithmeticException e) {
            ArithmeticException refusal =
                    new ArithmeticException("date is out of range: dtype=" + dtype + " count=" + count);
            refusal.initCause(e);
            throw refusal;
        }
    }

    private static Instant instant(String unit, long count) {
        return switch (unit) {
            case "Y" -> startOf(LocalDate.EPOCH.plusYears(count));
            case "M" -> startOf(LocalDate.EPOCH.plusMonths(count));
            case "W" -> seconds(count, 7 * 86_400);
            case "D" -> seconds(count, 86_400);
            case "h" -> seconds(count, 3_600);
            case "m" -> seconds(count, 60);
            case "s" -> seconds(count, 1);
            case "ms" -> parts(count, 1_000);
            case "us" -> parts(count, 1_000_000);
            case "ns" -> parts(count, NANOS);
            case "ps" -> parts(Math.floorDiv(count, 1_000L), NANOS);
            case "fs" -> parts(Math.floorDiv(count, 1_000_000L), NANOS);
            default -> parts(Math.floorDiv(count, NANOS), NANOS); // "as", numpy's smallest unit
        };
    }

    private static Instant startOf(LocalDate day) {
        return day.atStartOfDay(ZoneOffset.UTC).toInstant();
    }

    private static Instant seconds(long count, long each) {
        return Instant.ofEpochSecond(Math.multiplyExact(count, each));
    }

    private static Instant parts(long count, long perSecond) {
        return Instant.ofEpochSecond(
                Math.floorDiv(count, perSecond), Math.floorMod(count, perSecond) * (NANOS / perSecond));
    }
}
