package dev.larder.command;

import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Waits until something is resident. */
@Command(
        name = "wait",
        description = "Wait until a dataset or an array is resident, also where nobody has begun to load it yet.")
final class Wait implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", description = "A dataset, or dataset/array.")
    String name;

    @Option(
            names = "--timeout",
            paramLabel = "D",
            defaultValue = "10m",
            converter = Units.DurationConverter.class,
            description = "How long to wait (default: 10m).")
    Duration timeout;

    @Override
    public Integer call() {
        try (ProgressDisplay display = ProgressDisplay.on(larder.err())) {
            larder.client().awaitEvenIfUnknown(name, timeout, display);
        }
        return 0;
    }
}
