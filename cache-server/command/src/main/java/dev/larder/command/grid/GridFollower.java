package dev.larder.command.grid;

import com.google.gson.JsonElement;
import dev.larder.launch.grid.GridJob;
import dev.larder.launch.grid.GridListener;
import dev.larder.launch.grid.GridRun;
import dev.larder.launch.process.EndReason;
import dev.larder.launch.process.ExitCause;
import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.PoolSlot;
import dev.larder.launch.process.ProcessResult;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Writes down what becomes of jobs before anything else happens, and shows it. */
public final class GridFollower implements GridListener {
    private final GridJournal journal;
    private final GridDisplay display;
    private final Clock clock;
    private final Map<Integer, String> lastLines = new ConcurrentHashMap<>();

    public GridFollower(GridJournal journal, GridDisplay display, Clock clock) {
        this.journal = journal;
        this.display = display;
        this.clock = clock;
    }

    /** Returns the files of an attempt of a job: the first one's bear its number, later ones' also theirs. */
    public static GridRun.Files files(Path folder, GridJob job, int attempt) {
        String name = job.fileName() + (attempt <= 1 ? "" : "." + attempt);
        return new GridRun.Files(folder.resolve(name + ".log"), folder.resolve(name + ".result"));
    }

    @Override
    public void starting(GridJob job, PoolSlot slot) {
        journal.started(job.number(), slot.name(), clock.instant().toString());
        display.started(job, journal.record(job.number()));
    }

    @Override
    public void lines(GridJob job, List<OutputLine> lines) {
        for (int i = lines.size() - 1; i >= 0; i--) {
            String text = lines.get(i).text();
            if (!text.isBlank()) {
                lastLines.put(job.number(), text);
                display.line(job, text);
                return; // the last one is the one that counts, and that is seen
            }
        }
    }

    @Override
    public void ended(GridJob job, ProcessResult ending) {
        JobRecord started = journal.record(job.number());
        Path file = files(journal.folder(), job, started.attempts()).result();
        JsonElement result = JobResult.read(file, lastLines.getOrDefault(job.number(), ""));
        ExitCause cause = ending.cause();
        JobRecord end = new JobRecord(
                state(cause), started.attempts(), started.slot(), cause.exitCode(), cause.text(), ending.ran(), result);
        journal.ended(job.number(), end);
        display.ended(job, end);
        if (ending.outputTrouble() != null) {
            display.note("not all output of job " + job.number() + " was kept: " + ending.outputTrouble());
        }
    }

    private static JobState state(ExitCause cause) {
        boolean isStopped = cause instanceof ExitCause.Ended ended && ended.reason() == EndReason.CANCELLED;
        return cause.isSuccess() ? JobState.DONE : isStopped ? JobState.STOPPED : JobState.FAILED;
    }
}
