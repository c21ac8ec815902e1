package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Outcome;
import dev.larder.internal.protocol.Done;
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

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "A dataset.")
    String name;

    @Option(names = "--forget", description = "Also forget its source, so that it does not come back.")
    boolean forget;

    @Override
    public Integer call() {
        Done done = forget ? larder.client().forget(name) : larder.client().evict(name);
        larder.out().println("Evicted " + name + ": " + Outcome.freed(done));
        Outcome.note(done, larder.err());
        return 0;
    }
}
