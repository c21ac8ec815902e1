package dev.larder.command.output;

import dev.larder.internal.protocol.ErrorRow;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Formats the daemon's errors. */
public final class ErrorText {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneId.systemDefault());

    private ErrorText() {}

    /** Returns a table of the newest kinds of errors, and the number of older ones. */
    public static List<String> table(List<ErrorRow> errors, int most) {
        Table table = Table.of(List.of("ERRORS", ">TIMES", "MESSAGE (larder errors has all)"));
        for (int i = errors.size() - 1; i >= Math.max(0, errors.size() - most); i--) {
            ErrorRow row = errors.get(i);
            table.row(List.of(
                    TIME.format(row.last()),
                    Long.toString(row.count()),
                    row.message().replaceAll("\\s+", " ").replaceAll("\\p{Cntrl}", "?")));
        }
        return table.lines();
    }
}
