package dev.larder.command;

import dev.larder.protocol.Done;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Checks that the bytes are still what was loaded. */
@Command(name = "verify", description = "Compute checksums again and compare.")
final class Verify implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            arity = "0..1",
            paramLabel = "NAME",
            defaultValue = "",
            description = "A dataset, or dataset/array; everything if absent.")
    String name;

    @Override
    public Integer call() {
        Done done;
        try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
            done = larder.client().verify(name, display);
        }
        larder.out().println("Verified: " + Outcome.counted(done));
        return 0;
    }
}
