package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Outcome;
import dev.larder.command.terminal.ProgressOptions;
import dev.larder.internal.protocol.Done;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Checks that the bytes are still what was loaded. */
@Command(name = "verify", description = "Recompute checksums and compare them.")
final class Verify implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            arity = "0..1",
            paramLabel = "NAME",
            converter = NameConverter.class,
            defaultValue = "",
            description = "A dataset, or dataset/array (default: everything).")
    String name;

    @Option(
            names = "--source",
            description = "Also read the sources, and list what is missing or differs from the loaded data.")
    boolean source;

    @Mixin
    ProgressOptions progress;

    @Override
    public Integer call() {
        return progress.follow(larder.err(), "verify", display -> {
            Done done = source
                    ? larder.client().verifyAgainstSources(name, display)
                    : larder.client().verify(name, display);
            display.done(done);
            larder.out().println("Verified" + (source ? " with sources: " : ": ") + Outcome.counted(done));
        });
    }
}
