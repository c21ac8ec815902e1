package dev.larder.command;

import dev.larder.client.Larder;
import dev.larder.command.output.Outcome;
import dev.larder.command.rows.StoredRows;
import dev.larder.internal.rows.RowsRegion;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Makes a dataset of computed rows. */
@Command(
        name = "freeze",
        description = {
            "Make a dataset of computed rows: a version that never changes, for all users of the store.",
            "All rows have to be computed; their checksums are compared while they are copied. The rows stay as well,"
                    + " until larder evict, or until their room is needed."
        })
final class Freeze implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", description = "Computed rows, as larder ls shows them.")
    String name;

    @Option(
            names = "--as",
            paramLabel = "DATASET",
            description = "The dataset to make (default: the rows' name without their key).")
    @Nullable
    String dataset;

    @Override
    public Integer call() {
        try (RowsRegion region = StoredRows.require(larder.store(), name);
                Larder client = Larder.connect(larder.store())) {
            String made =
                    Objects.requireNonNullElseGet(dataset, () -> region.header().get("name"));
            long bytes = StoredRows.freeze(region, client, made);
            larder.out()
                    .println("Froze " + region.header().region() + " as " + made + ": " + Outcome.counted(1, bytes));
            return 0;
        }
    }
}
