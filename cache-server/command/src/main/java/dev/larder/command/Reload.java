package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Outcome;
import dev.larder.command.terminal.ProgressOptions;
import dev.larder.internal.protocol.Done;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Loads a dataset again. */
@Command(
        name = "reload",
        description = {
            "Load a dataset again, from the paths and with the options it was loaded with.",
            "Reads all sources, even those that look unchanged. If sources and memory are unchanged, the version"
                    + " stays; otherwise the next version replaces it, and readers of the old version keep it."
        })
final class Reload implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "A dataset.")
    String name;

    @Mixin
    ProgressOptions progress;

    @Override
    public Integer call() {
        return progress.follow(larder.err(), "reload", display -> {
            Done done = larder.client().reload(name, display);
            display.done(done);
            if (done.files() > 0 && !progress.isJson()) {
                larder.err().println("larder: loaded: " + Outcome.counted(done));
            }
        });
    }
}
