package dev.larder.command;

import dev.larder.protocol.ArrayRow;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Lists arrays. */
@Command(name = "ls", description = "List the arrays of all datasets.")
final class Ls implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Option(names = "--all", description = "Show all columns, and versions that only wait for their last reader.")
    boolean all;

    @Option(names = "--json", description = "Print one JSON list, with everything known of each array.")
    boolean json;

    @Override
    public Integer call() {
        List<ArrayRow> rows = larder.client().list("", all);
        if (json) {
            larder.out().println(Json.arrays(rows));
        } else {
            ArrayText.table(rows, all).forEach(larder.out()::println);
        }
        return 0;
    }
}
