package dev.larder.command.show;

import dev.larder.npy.Dtype;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.YearMonth;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Formats dates as numpy does, with the precision of their unit. */
final class TimeText {
    /** The value of NaT, not a time. */
    static final long NOT_A_TIME = Long.MIN_VALUE;

    private static final Pattern UNIT = Pattern.compile(".*\\[(\\d*)([A-Za-z]+)(?:/.*)?\\]");
    private static final String BELOW_SECONDS = "ms us ns ps fs as ";
    private static final long SECONDS_OF_DAY = 86_400;

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
            case "Y" -> String.format("%04d", Math.addExact(1970, value));
            case "M" -> YearMonth.of(1970, 1).plusMonths(value).toString();
            case "W" -> LocalDate.ofEpochDay(Math.multiplyExact(value, 7)).toString();
            case "D" -> LocalDate.ofEpochDay(value).toString();
            case "h" -> moment(Math.multiplyExact(value, 3600)).substring(0, "2000-01-01T00".length());
            case "m" -> moment(Math.multiplyExact(value, 60)).substring(0, "2000-01-01T00:00".length());
            case "s" -> moment(value);
            default -> fraction(BELOW_SECONDS.indexOf(unit + " ") + 3, value);
        };
    }

    private static String fraction(int digits, long value) {
        long perSecond = 1;
        for (int i = 0; i < digits; i++) {
            perSecond *= 10;
        }
        String rest = Long.toString(Math.floorMod(value, perSecond));
        return moment(Math.floorDiv(value, perSecond)) + "." + "0".repeat(digits - rest.length()) + rest;
    }

    private static String moment(long seconds) {
        LocalDate day = LocalDate.ofEpochDay(Math.floorDiv(seconds, SECONDS_OF_DAY));
        LocalTime time = LocalTime.ofSecondOfDay(Math.floorMod(seconds, SECONDS_OF_DAY));
        return day + "T" + String.format("%02d:%02d:%02d", time.getHour(), time.getMinute(), time.getSecond());
    }
}
