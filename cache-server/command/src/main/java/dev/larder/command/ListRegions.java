package dev.larder.command;

import dev.larder.command.output.Json;
import dev.larder.command.output.Table;
import dev.larder.command.output.Units;
import dev.larder.internal.protocol.RegionRow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows memory that processes write together. */
@Command(
        name = "regions",
        description = {
            "Show memory that several processes write: shared arrays, queues, process groups. A region is removed"
                    + " when no process has it open.",
            "Computed rows are regions too; they stay until their room is needed.",
            "With --remove: remove its name. Processes that have it open continue; no other process can open it."
        })
final class ListRegions implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON list.")
    boolean json;

    @Option(names = "--remove", paramLabel = "NAME", description = "Remove the name of this region.")
    @Nullable
    String removed;

    @Override
    public Integer call() {
        if (removed != null) {
            larder.client().removeRegion(removed, 0);
            return 0;
        }
        List<RegionRow> rows = larder.client().regions("");
        if (json) {
            larder.out().println(Json.regions(rows));
        } else {
            table(rows, Instant.now()).forEach(larder.out()::println);
        }
        return 0;
    }

    private static List<String> table(List<RegionRow> rows, Instant now) {
        Table table = Table.of(
                List.of("NAME", "KIND", Table.RIGHT + "SIZE", Table.RIGHT + "PID", Table.RIGHT + "AGE", "FILE"));
        for (RegionRow row : rows) {
            table.row(List.of(
                    row.name(),
                    row.kind(),
                    Units.size(row.bytes()),
                    Long.toString(row.creatorPid()),
                    Units.duration(Duration.between(row.created(), now)),
                    row.path()));
        }
        return table.lines();
    }
}
