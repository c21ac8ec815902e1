package dev.larder.command.grid;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import java.time.Duration;

/**
 * What is known of a job.
 *
 * @param attempts how often it was started
 * @param slot where it ran last; empty where it never did
 * @param exitCode of the last attempt that ended; −1 where none did
 * @param cause why that attempt ended
 * @param result what it left: an object, a text, or null
 */
public record JobRecord(
        JobState state, int attempts, String slot, int exitCode, String cause, Duration ran, JsonElement result) {
    /** Of a job that was never started. */
    public static final JobRecord NEW =
            new JobRecord(JobState.WAITING, 0, "", -1, "", Duration.ZERO, JsonNull.INSTANCE);

    /** Returns what is known once it is started again. */
    JobRecord started(String newSlot) {
        return new JobRecord(JobState.RUNNING, attempts + 1, newSlot, -1, "", Duration.ZERO, JsonNull.INSTANCE);
    }

    /** Returns what is known once it has ended. */
    JobRecord ended(JobState end, int newExitCode, String newCause, Duration newRan, JsonElement newResult) {
        return new JobRecord(end, attempts, slot, newExitCode, newCause, newRan, newResult);
    }
}
