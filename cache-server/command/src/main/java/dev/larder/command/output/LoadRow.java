package dev.larder.command.output;

import dev.larder.internal.protocol.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A running load or build.
 *
 * @param bytesPerSecond the rate; 0 if it is unknown
 * @param secondsLeft the remaining time; negative if it is unknown
 */
public record LoadRow(Progress progress, double bytesPerSecond, double secondsLeft) {
    private static final double WHOLE = 100.0;

    /** Returns the fields of the JSON object; unknown values are null. */
    public JsonFields fields() {
        return new JsonFields()
                .with("datasets", List.of(progress.name().split(",", -1)))
                .with("phase", phase())
                .with("bytesDone", progress.bytesDone())
                .with("bytesTotal", progress.bytesTotal() < 0 ? null : progress.bytesTotal())
                .with("filesDone", progress.filesDone())
                .with("filesTotal", progress.filesTotal() < 0 ? null : progress.filesTotal())
                .with("bytesPerSecond", Math.round(bytesPerSecond))
                .with("secondsLeft", secondsLeft < 0 ? null : Math.round(secondsLeft * 10) / 10.0);
    }

    private String phase() {
        return progress.phase().name().toLowerCase(Locale.ROOT);
    }

    /** Returns a table. */
    public static List<String> table(List<LoadRow> rows) {
        return table(rows, Integer.MAX_VALUE);
    }

    /** Returns a table, without the columns that do not fit into a terminal of this width. */
    public static List<String> table(List<LoadRow> rows, int width) {
        Table table = Table.of(List.of("LOADING", "PHASE", ">DONE", ">OF", ">%", ">PER SECOND", ">LEFT"));
        for (LoadRow row : rows) {
            long total = row.progress.bytesTotal();
            List<String> cells = new ArrayList<>(List.of(row.progress.name(), row.phase()));
            cells.add(Units.size(row.progress.bytesDone()));
            cells.add(total < 0 ? "-" : Units.size(total));
            cells.add(total <= 0 ? "-" : Long.toString((long) (WHOLE * row.progress.bytesDone() / total)));
            cells.add(row.bytesPerSecond <= 0 ? "-" : Units.size((long) row.bytesPerSecond));
            cells.add(row.secondsLeft < 0 ? "-" : Units.duration(Duration.ofMillis((long) (row.secondsLeft * 1000))));
            table.row(cells);
        }
        return table.lines(width, Integer.MAX_VALUE, List.of("PHASE", "DONE", "OF", "PER SECOND"));
    }
}
