package dev.larder.command;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints the help of the command or of one of its subcommands. */
@Command(
        name = "help",
        description = "Show the help of a command, as COMMAND --help does; without a name, that of all.")
final class Help implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "The command, such as load.")
    @Nullable
    String command;

    @Override
    public Integer call() {
        CommandLine whole = larder.spec.commandLine();
        CommandLine wanted = command == null ? whole : whole.getSubcommands().get(command);
        if (wanted == null) {
            throw new UnmatchedArgumentException(whole, List.of(String.valueOf(command)));
        }
        wanted.usage(larder.out());
        return 0;
    }
}
