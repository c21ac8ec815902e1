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

    @Override
    public Integer call() {
        Done done;
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

    private int evictRows() {
        String region;
        Path file;
        long bytes;
        try (RowsRegion rows = StoredRows.require(larder.store(), name)) {
            region = rows.header().region();
            file = rows.file();
            bytes = rows.header().byteSize();
        }
        if (RowsRegion.isUsed(larder.store(), file)) {
            throw Failure.of(ErrorCode.REFUSED, "computed rows are in use")
                    .with("name", region)
                    .remedy("evict them when the processes that have them open have ended");
        }
        larder.client().removeRegion(region, RegionDescriptor.idOf(String.valueOf(file.getFileName())));
        larder.out().println("Evicted " + region + ": " + Outcome.counted(1, bytes));
        return 0;
    }
}
