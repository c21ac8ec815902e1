package dev.larder.command.grid;

import dev.larder.launch.grid.GridJob;

/** Shows the progress of a grid. Called from several threads. */
public interface GridDisplay extends AutoCloseable {
    /** A job starts. */
    void started(GridJob job, JobRecord record);

    /** A job wrote a line. */
    void line(GridJob job, String line);

    /** A job has ended. */
    void ended(GridJob job, JobRecord record);

    /** Shows a message that belongs to no job. */
    void note(String text);

    /** Draws again; called periodically. */
    void refresh();

    @Override
    void close();
}
