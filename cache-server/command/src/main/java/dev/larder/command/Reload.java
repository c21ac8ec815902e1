package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Outcome;
import dev.larder.command.terminal.Events;
import dev.larder.protocol.Done;
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
            "All of its sources are read, however they look. Where they hold what they held, and memory does too, the version"
                    + " stays; else the next version replaces it, and readers of the old one keep that."
        })
final class Reload implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "A dataset.")
    String name;

    @Mixin
    Events events;

    @Override
    public Integer call() {
        return events.follow(larder.err(), "reload", display -> {
            Done done = larder.client().reload(name, display);
            display.done(done);
            if (done.files() > 0 && !events.isJson()) {
                larder.err().println("larder: loaded: " + Outcome.counted(done));
            }
        });
    }
}
