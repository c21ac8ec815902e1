package dev.larder.command;

import dev.larder.command.output.FishCompletion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Prints the completion script. */
@Command(
        name = "completion",
        description = {
            "Print the completion script of a shell: source <(larder completion) in bash and zsh,"
                    + " larder completion fish | source in fish."
        })
final class Completion implements Callable<Integer> {
    /** The shells. */
    enum Shell {
        BASH,
        ZSH,
        FISH
    }

    @ParentCommand
    LarderCommand larder;

    @Parameters(
            arity = "0..1",
            paramLabel = "SHELL",
            defaultValue = "bash",
            description = "bash, zsh or fish (default: bash; the script is the same for zsh).")
    Shell shell;

    @Override
    public Integer call() {
        CommandLine whole = larder.spec.root().commandLine();
        if (shell == Shell.FISH) {
            FishCompletion.lines("larder", whole).forEach(larder.out()::println);
            larder.out().print(names("names.fish"));
        } else {
            larder.out().print(AutoComplete.bash("larder", whole));
            larder.out().print(names("names.bash"));
        }
        larder.out().flush();
        return 0;
    }

    /** Returns the script that completes names of a store, which picocli cannot generate. */
    private static String names(String file) {
        try (InputStream script = Completion.class.getResourceAsStream(file)) {
            return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
