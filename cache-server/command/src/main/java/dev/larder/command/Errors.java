package dev.larder.command;

import dev.larder.command.output.Json;
import dev.larder.internal.protocol.ErrorRow;
import java.io.PrintWriter;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows the daemon's errors. */
@Command(
        name = "errors",
        description = {
            "Show the daemon's errors since its start: each kind once, the most recent one last.",
            "Failed loads and builds are included; other errors that were reported to a client are not. --debug adds stack traces."
        })
final class Errors implements Callable<Integer> {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault());

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON list.")
    boolean json;

    @Override
    public Integer call() {
        List<ErrorRow> rows = larder.client().errors();
        if (json) {
            larder.out().println(Json.errors(rows, larder.debug));
        } else if (rows.isEmpty()) {
            larder.out().println("No errors.");
        } else {
            rows.forEach(row -> print(row, larder.debug, larder.out()));
        }
        return 0;
    }

    /** A message may be long, so that it stands below, not in a table. */
    private static void print(ErrorRow row, boolean withTrace, PrintWriter out) {
        String times = row.count() == 1
                ? "once, " + TIME.format(row.last())
                : row.count() + " times, first " + TIME.format(row.first()) + ", last " + TIME.format(row.last());
        out.println(times);
        row.message().lines().forEach(line -> out.println("  " + printable(line)));
        if (withTrace) {
            row.trace().lines().forEach(line -> out.println("    " + printable(line.strip())));
        }
    }

    private static String printable(String line) {
        return line.replaceAll("\\p{Cntrl}", "?");
    }
}
