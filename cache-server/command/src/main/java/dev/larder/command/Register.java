package dev.larder.command;

import dev.larder.command.options.LoadArguments;
import dev.larder.command.options.SourceConverter;
import dev.larder.command.options.StandardInput;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Notes where datasets can be loaded from. */
@Command(
        name = "register",
        description = "Record the sources of datasets without loading them: the first process that opens or waits"
                + " for one loads it.")
final class Register implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(
            arity = "1..*",
            paramLabel = "NAME=PATH",
            converter = SourceConverter.class,
            description = "What to load on request, and the name of its dataset.")
    List<LoadRequest.Source> sources;

    @Mixin
    LoadArguments options;

    @Override
    public Integer call() {
        LoadRequest request = options.request(sources, larder.debug, StandardInput.open());
        Done done = larder.client().load(request.withRegisterOnly(true), progress -> {});
        larder.err().println("larder: " + done.message());
        return 0;
    }
}
