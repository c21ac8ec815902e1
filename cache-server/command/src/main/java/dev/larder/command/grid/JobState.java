package dev.larder.command.grid;

import java.util.Locale;

/** The progress of a job. */
public enum JobState {
    /** Not started yet. */
    WAITING,
    /** Started without a known end: it runs, or the grid died while it ran. */
    RUNNING,
    /** Ended with exit code 0. */
    DONE,
    /** Ended in another way, or could not be started. */
    FAILED,
    /** Stopped with the grid: it runs again when the grid continues. */
    STOPPED;

    /** Returns the state for people and JSON. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
