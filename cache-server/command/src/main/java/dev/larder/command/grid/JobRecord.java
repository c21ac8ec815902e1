package dev.larder.command.grid;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import java.time.Duration;

/**
 * The state of a job.
 *
 * @param attempts the number of its starts
 * @param slot of its last run; empty without one
 * @param exitCode of the last attempt that ended; −1 without one
 * @param cause of the end of that attempt
 * @param result an object, a text, or null
 */
public record JobRecord(
        JobState state, int attempts, String slot, int exitCode, String cause, Duration ran, JsonElement result) {
    /** The record of a job that was never started. */
    public static final JobRecord NEW =
            new JobRecord(JobState.WAITING, 0, "", -1, "", Duration.ZERO, JsonNull.INSTANCE);

    /** Returns the record after another start. */
    JobRecord started(String newSlot) {
        return new JobRecord(JobState.RUNNING, attempts + 1, newSlot, -1, "", Duration.ZERO, JsonNull.INSTANCE);
    }

    /** Returns the record after the end. */
    JobRecord ended(JobState end, int newExitCode, String newCause, Duration newRan, JsonElement newResult) {
        return new JobRecord(end, attempts, slot, newExitCode, newCause, newRan, newResult);
    }
}
