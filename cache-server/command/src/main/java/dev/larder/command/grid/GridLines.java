package dev.larder.command.grid;

import dev.larder.command.output.Units;
import dev.larder.launch.grid.GridJob;
import java.io.PrintWriter;

/** Prints a line for each start and each end of a job, for logs and pipes. */
public final class GridLines implements GridDisplay {
    private final PrintWriter err;
    private final int jobs;
    private int ended;

    public GridLines(PrintWriter err, int jobs, int ended) {
        this.err = err;
        this.jobs = jobs;
        this.ended = ended;
    }

    @Override
    public synchronized void started(GridJob job, JobRecord record) {
        err.println("larder: job " + job.number() + " started: device=" + record.slot()
                + (job.parameters().isEmpty() ? "" : " " + job.text()));
    }

    @Override
    public void line(GridJob job, String line) {
        // its log has it
    }

    @Override
    public synchronized void ended(GridJob job, JobRecord record) {
        ended++;
        String result = GridReport.resultText(record.result());
        err.println("larder: job " + job.number() + " " + record.state().text() + ": " + record.cause() + " after "
                + Units.duration(record.ran()) + " (" + ended + " of " + jobs + ")"
                + (result.isEmpty() ? "" : ": " + result));
    }

    @Override
    public synchronized void note(String text) {
        err.println("larder: " + text);
    }

    @Override
    public void refresh() {
        // lines need no refresh
    }

    @Override
    public void close() {
        err.flush();
    }
}
