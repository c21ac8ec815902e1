package dev.larder.launch.grid;

import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.PoolSlot;
import dev.larder.launch.process.ProcessResult;
import java.util.List;

/** Hears what becomes of the jobs of a grid, from several threads; for one job the calls come one after the other. */
public interface GridListener {
    /** Is about to start a job. Where this fails the job is not started, and counts as one that could not be. */
    void starting(GridJob job, PoolSlot slot);

    /** A job wrote lines, one or several. */
    void lines(GridJob job, List<OutputLine> lines);

    /** A job that was to be started has ended. */
    void ended(GridJob job, ProcessResult ending);
}
