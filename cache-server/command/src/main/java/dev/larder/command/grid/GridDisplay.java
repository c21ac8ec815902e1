package dev.larder.command.grid;

import dev.larder.launch.grid.GridJob;

/** Shows how a grid goes on, while it does. Called from several threads. */
public interface GridDisplay extends AutoCloseable {
    /** A job starts. */
    void started(GridJob job, JobRecord record);

    /** A job wrote a line. */
    void line(GridJob job, String line);

    /** A job has ended. */
    void ended(GridJob job, JobRecord record);

    /** Something is to be said that is no job's. */
    void note(String text);

    /** Some time has passed. */
    void refresh();

    @Override
    void close();
}
