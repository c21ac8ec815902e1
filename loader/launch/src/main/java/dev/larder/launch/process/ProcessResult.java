package dev.larder.launch.process;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What became of a process.
 *
 * @param ran from its start until nothing was left of it
 * @param outputTrouble why not all of its output reached its log or its reader; null where it did
 */
public record ProcessResult(
        ExitCause cause, Duration ran, @Nullable String outputTrouble) {}
