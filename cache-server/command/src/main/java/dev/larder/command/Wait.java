package dev.larder.command;

import dev.larder.command.options.NameConverter;
import dev.larder.command.output.Units;
import dev.larder.command.terminal.ProgressOptions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Waits until something is resident. */
@Command(
        name = "wait",
        description = {
            "Wait until a dataset or an array is resident, even if no load of it has begun.",
            "Waits up to five seconds for a daemon to start."
        })
final class Wait implements Callable<Integer> {
    private static final Duration DAEMON_STARTS = Duration.ofSeconds(5);
    private static final long RETRY_NANOS = 50_000_000;

    @ParentCommand
    LarderCommand larder;

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "A dataset, or dataset/array.")
    String name;

    @Option(
            names = "--timeout",
            paramLabel = "D",
            defaultValue = "10m",
            converter = Units.DurationConverter.class,
            description = "How long to wait (default: 10m).")
    Duration timeout;

    @Mixin
    ProgressOptions progress;

    @Override
    public Integer call() {
        return progress.follow(larder.err(), "wait", display -> {
            awaitDaemon(Deadline.after(timeout.compareTo(DAEMON_STARTS) < 0 ? timeout : DAEMON_STARTS));
            display.done(larder.client().awaitEvenIfUnknown(name, timeout, display));
        });
    }

    /** Gives a daemon that was started just before the time to come up. */
    private void awaitDaemon(Deadline deadline) {
        while (true) {
            try {
                larder.client().info();
                return;
            } catch (LarderException failure) {
                if (deadline.isOver() || failure.code() != ErrorCode.NO_DAEMON) {
                    throw failure;
                }
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }
}
