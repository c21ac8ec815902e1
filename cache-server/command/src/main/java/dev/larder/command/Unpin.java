package dev.larder.command;

import dev.larder.command.options.NameConverter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Lets a dataset go again when room is needed. */
@Command(name = "unpin", description = "Allow a pinned dataset to be evicted again when room is needed.")
final class Unpin implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "A dataset.")
    String name;

    @Override
    public Integer call() {
        larder.client().unpin(name);
        return 0;
    }
}
