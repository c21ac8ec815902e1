package dev.larder.command;

import dev.larder.command.options.NameConverter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Keeps a dataset resident. */
@Command(
        name = "pin",
        description =
                "Keep a dataset in the store until it is unpinned, even if space is needed. Its next versions are pinned too.")
final class Pin implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "A dataset.")
    String name;

    @Override
    public Integer call() {
        larder.client().pin(name);
        return 0;
    }

    /** Lets a dataset go again when room is needed. */
    @Command(name = "unpin", description = "Allow a pinned dataset to be evicted again when room is needed.")
    static final class Unpin implements Callable<Integer> {
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
}
