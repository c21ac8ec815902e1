package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.ArrayText;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.ListedRow;
import dev.larder.command.rows.StoredRows;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
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
            description = "A dataset, dataset/array, dataset/column, or computed rows.")
    String name;

    @Option(names = "--json", description = "Print one JSON document.")
    boolean json;

    @Override
    public Integer call() {
        List<ArrayRow> rows;
        try {
            rows = larder.arrays().info(name);
        } catch (LarderException e) {
            List<StoredRows> computed =
                    e.code() == ErrorCode.NOT_FOUND ? StoredRows.matching(larder.store(), name::equals) : List.of();
            if (computed.isEmpty()) {
                throw e;
            }
            return describe(computed);
        }
        if (json) {
            if (rows.size() == 1) {
                larder.out().println(Json.array(rows.get(0)));
            } else {
                Json.print(larder.out(), rows.stream().map(Json::fields));
            }
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

    private int describe(List<StoredRows> computed) {
        if (json) {
            List<JsonFields> fields = computed.stream().map(StoredRows::fields).toList();
            larder.out().println(Json.document(fields.size() == 1 ? fields.get(0) : fields));
            return 0;
        }
        String gap = "";
        for (StoredRows rows : computed) {
            larder.out().print(gap);
            rows.facts().forEach(larder.out()::println);
            gap = System.lineSeparator();
        }
        return 0;
    }
}
