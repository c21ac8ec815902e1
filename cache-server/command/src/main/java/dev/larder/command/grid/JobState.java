package dev.larder.command.grid;

import java.util.Locale;

/** How far a job is. */
public enum JobState {
    /** Not started yet. */
    WAITING,
    /** Started, and no end is known: it runs, or the grid died while it ran. */
    RUNNING,
    /** Ended with exit code 0. */
    DONE,
    /** Ended in another way, or could not be started. */
    FAILED,
    /** Ended because the grid was: it runs again when the grid goes on. */
    STOPPED;

    /** Returns the state as people and JSON read it. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
