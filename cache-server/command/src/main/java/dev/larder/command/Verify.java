package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Outcome;
import dev.larder.command.rows.StoredRows;
import dev.larder.command.terminal.ProgressOptions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.rows.RowsRegion;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Checks that the bytes have not changed since the load. */
@Command(
        name = "verify",
        description = "Recompute checksums and compare them. Computed rows are checked where they are named.")
final class Verify implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            arity = "0..1",
            paramLabel = "NAME",
            converter = NameConverter.class,
            defaultValue = "",
            description = "A dataset, dataset/array, or computed rows (default: all datasets).")
    String name;

    @Option(
            names = "--source",
            description = "Also read the sources, and list what is missing or differs from the loaded data.")
    boolean source;

    @Mixin
    ProgressOptions progress;

    @Override
    public Integer call() {
        if (!name.isEmpty() && !source && isRows()) {
            try (RowsRegion region = StoredRows.require(larder.store(), name)) {
                long published = StoredRows.verify(region);
                larder.out()
                        .println("Verified: rows=" + published + " of "
                                + region.header().rows());
            }
            return 0;
        }
        return progress.follow(larder.err(), "verify", display -> {
            Done done = source
                    ? larder.client().verifyAgainstSources(name, display)
                    : larder.client().verify(name, display);
            display.done(done);
            larder.out().println("Verified" + (source ? " with sources: " : ": ") + Outcome.counted(done));
        });
    }

    /** A dataset comes before computed rows of the same name. */
    private boolean isRows() {
        try {
            larder.client().info(name);
            return false;
        } catch (LarderException e) {
            return e.code() == ErrorCode.NOT_FOUND && StoredRows.has(larder.store(), name);
        }
    }
}
