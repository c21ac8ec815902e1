package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.ArrayText;
import dev.larder.command.output.Json;
import dev.larder.command.output.ListedRow;
import dev.larder.internal.protocol.ArrayRow;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Describes one array, or all of a dataset. */
@Command(
        name = "info",
        description = {
            "Describe an array or a column, or all of a dataset.",
            "With --json, an array is one object, and so is a dataset with exactly one array; other datasets are a list."
        })
final class Info implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            description = "A dataset, dataset/array or dataset/column.")
    String name;

    @Option(names = "--json", description = "Print one JSON document.")
    boolean json;

    @Override
    public Integer call() {
        List<ArrayRow> rows = larder.client().info(name);
        if (json) {
            larder.out().println(rows.size() == 1 ? Json.array(rows.get(0)) : Json.arrays(rows));
            return 0;
        }
        String gap = "";
        for (ListedRow row : ListedRow.of(rows)) {
            larder.out().print(gap);
            ArrayText.facts(row).forEach(larder.out()::println);
            gap = System.lineSeparator();
        }
        return 0;
    }
}
