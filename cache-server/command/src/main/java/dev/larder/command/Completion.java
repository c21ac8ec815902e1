package dev.larder.command;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** Prints the completion script. */
@Command(name = "completion", description = "Print the completion script for bash: source <(larder completion)")
final class Completion implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Override
    public Integer call() {
        larder.out().print(AutoComplete.bash("larder", larder.spec.root().commandLine()));
        larder.out().flush();
        return 0;
    }
}
