package dev.larder.command.output;

import dev.larder.server.loaders.Cause;
import dev.larder.server.loaders.LoaderRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Shows live loaders: the uses of their trainers' time, and the setting to change. */
public final class LoaderTable {
    private static final double SHOWN = 0.005;

    private LoaderTable() {}

    /** Returns the fields of the JSON object. */
    public static JsonFields fields(LoaderRow row) {
        JsonFields shares = new JsonFields();
        row.bottleneck()
                .shares()
                .forEach((cause, share) -> shares.with(cause.key(), Math.round(share * 1000) / 1000.0));
        return new JsonFields()
                .with("id", row.id())
                .with("pid", row.pid())
                .with("program", row.program())
                .with("dataset", row.dataset())
                .with("feed", row.feed().isEmpty() ? null : row.feed())
                .with("threads", row.threads())
                .with("prefetch", row.slots())
                .with("batches", row.batches())
                .with("batchesPerSecond", Math.round(row.batchesPerSecond() * 10) / 10.0)
                .with("shares", shares)
                .with("bottleneck", row.bottleneck().cause().key())
                .with("advice", row.bottleneck().advice());
    }

    /** Returns a table, without the columns that do not fit into a terminal of this width, and a sentence for each loader. */
    public static List<String> lines(List<LoaderRow> rows, int width) {
        Table table = Table.of(List.of("LOADER", ">PID", "PROGRAM", ">BATCHES", ">PER SECOND", "TRAINER'S TIME"));
        for (LoaderRow row : rows) {
            table.row(List.of(
                    row.feed().isEmpty() ? row.dataset() : row.feed(),
                    Long.toString(row.pid()),
                    row.program(),
                    Long.toString(row.batches()),
                    String.format(Locale.ROOT, "%.1f", row.batchesPerSecond()),
                    shares(row)));
        }
        List<String> lines = new ArrayList<>(table.lines(width, Integer.MAX_VALUE, List.of("PROGRAM", "BATCHES")));
        rows.forEach(row -> lines.add("  " + row.pid() + ": " + row.bottleneck().advice()));
        return lines;
    }

    private static String shares(LoaderRow row) {
        return row.bottleneck().shares().entrySet().stream()
                .filter(share -> share.getValue() >= SHOWN)
                .sorted(Map.Entry.<Cause, Double>comparingByValue(Comparator.reverseOrder()))
                .map(share -> share.getKey().text() + " " + Math.round(share.getValue() * 100) + " %")
                .collect(Collectors.joining(", "));
    }
}
