package dev.larder.command.show;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rows as Python writes them: {@code 0:5}, {@code :5}, {@code 10:}, {@code -5:}, or the number of one row. Negative numbers count
 * from the end.
 *
 * @param text the range as the user typed it
 */
public record RowRange(String text) {
    private static final Pattern FORM = Pattern.compile("(-?\\d{1,18})?(:)?(-?\\d{1,18})?");

    /** Refuses a text that is not a range. */
    public RowRange {
        if (text.isEmpty() || !FORM.matcher(text).matches()) {
            throw new IllegalArgumentException("not a range of rows: '" + text + "' (rows are 0:5, :5, 10:, -5: or 7)");
        }
    }

    /**
     * Returns the first row for an array with this number of rows.
     *
     * @throws dev.larder.error.LarderException USAGE if it begins after the last row, or is one row that does not exist
     */
    public long first(long rows) {
        Matcher form = matched();
        String from = form.group(1);
        long row = from == null ? 0 : Long.parseLong(from);
        boolean isAfterAll = row > 0 && row >= rows;
        boolean isBeforeAll = form.group(2) == null && row + rows < 0;
        if (isAfterAll || isBeforeAll) {
            throw Failure.of(ErrorCode.USAGE, "there are no such rows")
                    .with("rows", text)
                    .with("count", rows)
                    .remedy("rows are counted from 0, or from the end with a minus sign");
        }
        return clamp(row, rows);
    }

    /** Returns the row after the last one, for an array with this number of rows. */
    public long end(long rows) {
        Matcher form = matched();
        long first = first(rows);
        if (form.group(2) == null) {
            return Math.min(rows, first + 1);
        }
        String to = form.group(3);
        return Math.max(first, to == null ? rows : clamp(Long.parseLong(to), rows));
    }

    private Matcher matched() {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new IllegalStateException("range was checked: " + text);
        }
        return form;
    }

    private static long clamp(long row, long rows) {
        return Math.max(0, Math.min(rows, row < 0 ? row + rows : row));
    }
}
