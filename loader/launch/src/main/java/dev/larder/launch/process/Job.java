package dev.larder.launch.process;

import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Something to run in a process of its own, once there is a place for it.
 *
 * @param timeout how long it may run; null for as long as it likes
 * @param program says what to run, just before it is run, in a thread of the pool; where this fails, the job ends as one that
 *     could not be started
 */
public record Job(String name, @Nullable Duration timeout, Function<PoolSlot, ProcessSpec> program) {
    /** Describes a job without a deadline, the same in every place. */
    public static Job of(String name, ProcessSpec program) {
        return new Job(name, null, slot -> program);
    }
}
