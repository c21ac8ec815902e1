package dev.larder.command;

import dev.larder.protocol.Done;
import dev.larder.protocol.LoadRequest;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Loads sources into the running daemon. */
@Command(
        name = "load",
        description = {
            "Load sources into the running daemon, and return when all of them are resident. Sources that are resident and"
                    + " have not changed are left alone; changed ones become the next version of their dataset.",
            "A source is a folder of .npy files, a .npy file or an IDX file (plain or .gz). A folder gives arrays"
                    + " NAME/<relative path without suffix>, a file NAME/<name without suffix>."
        })
final class Load implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            arity = "1..*",
            paramLabel = "NAME=PATH",
            converter = SourceConverter.class,
            description = "What to load, and the name of its dataset.")
    List<LoadRequest.Source> sources;

    @Mixin
    LoadOptions options;

    @Mixin
    Events events;

    @Override
    public Integer call() {
        return events.follow(larder, "load", display -> {
            Done done = larder.client().load(options.request(sources, larder.debug), display);
            display.done(done);
            if (done.files() > 0 && !events.json) {
                larder.err().println("larder: loaded: " + Outcome.counted(done));
            }
        });
    }
}
