package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Outcome;
import dev.larder.command.rows.StoredRows;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.rows.RowsRegion;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Removes a dataset from memory. */
@Command(
        name = "evict",
        description =
                "Remove a dataset from the store. Refused while a process reads it or it is pinned. A dataset that"
                        + " came from files is loaded again on request; a computed one does not come back.")
final class Evict implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "A dataset, or computed rows.")
    String name;

    @Option(names = "--forget", description = "Also forget its source, so that it does not come back.")
    boolean forget;

    @Option(names = "--dataset", description = "Remove the dataset where computed rows have the same name.")
    boolean isDataset;

    @Override
    public Integer call() {
        Done done;
        if (!forget && !isDataset) {
            requireOneMeaning();
        }
        try {
            done = forget ? larder.client().forget(name) : larder.client().evict(name);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND || !StoredRows.has(larder.store(), name)) {
                throw e;
            }
            return evictRows();
        }
        larder.out().println("Evicted " + name + ": " + Outcome.freed(done));
        Outcome.note(done, larder.err());
        return 0;
    }

    /** Fails if a dataset has the same name: a dataset frozen from these rows could not be loaded again. */
    private void requireOneMeaning() {
        if (!StoredRows.has(larder.store(), name) || !isDataset()) {
            return;
        }
        List<String> rows = StoredRows.matching(larder.store(), name::equals).stream()
                .map(found -> found.array().name())
                .toList();
        throw Failure.of(ErrorCode.USAGE, "a dataset and computed rows have this name")
                .with("name", name)
                .with("rows", String.join(",", rows))
                .remedy("larder evict " + rows.get(0) + " removes the rows, larder evict --dataset " + name
                        + " the dataset");
    }

    private boolean isDataset() {
        try {
            return !larder.client().info(name).isEmpty();
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    private int evictRows() {
        String region;
        Path file;
        long bytes;
        try (RowsRegion rows = StoredRows.require(larder.store(), name)) {
            region = rows.header().region();
            file = rows.file();
            bytes = rows.header().byteSize();
        }
        long id = RegionDescriptor.idOf(String.valueOf(file.getFileName()));
        if (!RowsRegion.removeUnused(larder.store(), file, () -> larder.client().removeRegion(region, id))) {
            throw Failure.of(ErrorCode.REFUSED, "computed rows are in use")
                    .with("name", region)
                    .remedy("evict them when the processes that have them open have ended");
        }
        larder.out().println("Evicted " + region + ": " + Outcome.counted(1, bytes));
        return 0;
    }
}
