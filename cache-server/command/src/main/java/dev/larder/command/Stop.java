package dev.larder.command;

import dev.larder.protocol.Done;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Stops the daemon. */
@Command(name = "stop", description = "Stop the daemon and remove what it owns.")
final class Stop implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Option(names = "--keep", description = "Leave the store for the next start.")
    boolean keep;

    @Override
    public Integer call() {
        Done done;
        try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
            done = larder.client().stop(keep, display);
        }
        larder.out().println(keep ? "Stopped; the store is kept." : "Stopped and cleaned up: " + Outcome.freed(done));
        return 0;
    }
}
