package dev.larder.command.show;

import dev.larder.npy.Dtype;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Formats dates as numpy does, with the precision of their unit. */
final class TimeText {
    /** The value of NaT, not a time. */
    static final long NOT_A_TIME = Long.MIN_VALUE;

    private static final Pattern UNIT = Pattern.compile(".*\\[(\\d*)([A-Za-z]+)]");
    private static final String BELOW_SECONDS = "ms us ns ps fs as ";
    private static final LocalDateTime EPOCH = LocalDate.EPOCH.atStartOfDay();

    private TimeText() {}

    /** Returns a date of a type like {@code <M8[ns]}; its number if it has no unit or is outside the calendar. */
    static String of(Dtype dtype, long value) {
        if (value == NOT_A_TIME) {
            return "NaT";
        }
        Matcher unit = UNIT.matcher(dtype.descr());
        if (!unit.matches()) {
            return Long.toString(value);
        }
        try {
            long multiple = unit.group(1).isEmpty() ? 1 : Long.parseLong(unit.group(1));
            return text(unit.group(2), Math.multiplyExact(value, multiple));
        } catch (ArithmeticException | DateTimeException e) {
            return Long.toString(value);
        }
    }

    private static String text(String unit, long value) {
        return switch (unit) {
            case "Y" -> String.format(Locale.ROOT, "%04d", Math.addExact(1970, value));
            case "M" -> text(EPOCH.plusMonths(value), "-01T00:00:00");
            case "W" -> text(EPOCH.plusWeeks(value), "T00:00:00");
            case "D" -> text(EPOCH.plusDays(value), "T00:00:00");
            case "h" -> text(EPOCH.plusHours(value), ":00:00");
            case "m" -> text(EPOCH.plusMinutes(value), ":00");
            case "s" -> text(EPOCH.plusSeconds(value), "");
            default -> fraction(BELOW_SECONDS.indexOf(unit + " ") + 3, value);
        };
    }

    private static String fraction(int digits, long value) {
        long perSecond = (long) Math.pow(10, digits);
        String seconds = text(EPOCH.plusSeconds(Math.floorDiv(value, perSecond)), "");
        return seconds + String.format(Locale.ROOT, ".%0" + digits + "d", Math.floorMod(value, perSecond));
    }

    /** Returns a time without its last part, which is below the unit. */
    private static String text(LocalDateTime time, String cut) {
        String whole = String.format(
                Locale.ROOT,
                "%04d-%02d-%02dT%02d:%02d:%02d",
                time.getYear(),
                time.getMonthValue(),
                time.getDayOfMonth(),
                time.getHour(),
                time.getMinute(),
                time.getSecond());
        return whole.substring(0, whole.length() - cut.length());
    }
}
