package dev.larder.launch.process;

import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A program for a process of its own, which starts when a slot is free.
 *
 * @param timeout of its process; null for none
 * @param program returns the program just before its start, in a thread of the pool; if it throws, the job could not be started
 */
public record Job(String name, @Nullable Duration timeout, Function<PoolSlot, ProcessSpec> program) {
    /** Describes a job without a deadline, the same in every place. */
    public static Job of(String name, ProcessSpec program) {
        return new Job(name, null, slot -> program);
    }
}
