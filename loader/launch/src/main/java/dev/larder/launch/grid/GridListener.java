package dev.larder.launch.grid;

import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.PoolSlot;
import dev.larder.launch.process.ProcessResult;
import java.util.List;

/** Receives the events of a grid, from several threads; the calls for one job come one after the other. */
public interface GridListener {
    /** A job is about to start. If this throws, the job is not started and counts as failed. */
    void starting(GridJob job, PoolSlot slot);

    /** A job wrote lines, one or several. */
    void lines(GridJob job, List<OutputLine> lines);

    /** A job has ended, or could not be started. */
    void ended(GridJob job, ProcessResult ending);
}
