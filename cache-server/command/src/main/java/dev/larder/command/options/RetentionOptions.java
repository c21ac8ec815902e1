package dev.larder.command.options;

import dev.larder.command.output.Units;
import dev.larder.internal.protocol.Retention;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Options for how long a dataset stays in the store. */
public final class RetentionOptions {
    @Option(names = "--pin", description = "Keep it in the store until it is unpinned, even if space is needed.")
    boolean pin;

    @Option(
            names = "--ttl",
            paramLabel = "D",
            defaultValue = "0s",
            converter = Units.DurationConverter.class,
            description = "Remove it when it has not been used for this long.")
    Duration ttl;

    /** Returns the options as a value. */
    public Retention retention() {
        return new Retention(pin, ttl);
    }
}
