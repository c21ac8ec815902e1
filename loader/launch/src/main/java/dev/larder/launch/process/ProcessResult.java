package dev.larder.launch.process;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The result of a process.
 *
 * @param ran the time from its start to the end of its last descendant
 * @param outputTrouble the reason why its log or its reader lacks output; null if none is missing
 */
public record ProcessResult(
        ExitCause cause, Duration ran, @Nullable String outputTrouble) {}
