package dev.larder.command;

import dev.larder.protocol.Done;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Removes a dataset from memory. */
@Command(name = "evict", description = "Remove a dataset from the store. Refused while somebody reads it.")
final class Evict implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", description = "A dataset.")
    String name;

    @Override
    public Integer call() {
        Done done = larder.client().evict(name);
        larder.out().println("Evicted " + name + ": " + Outcome.freed(done));
        return 0;
    }
}
