package dev.larder.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
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
        larder.out().print(names());
        larder.out().flush();
        return 0;
    }

    /** Returns the script that completes names of a store, which picocli cannot generate. */
    private static String names() {
        try (InputStream script = Completion.class.getResourceAsStream("names.bash")) {
            return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
