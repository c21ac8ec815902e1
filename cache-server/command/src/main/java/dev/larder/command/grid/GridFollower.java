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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Writes the events of jobs to the journal before anything else happens, and shows them. */
public final class GridFollower implements GridListener {
    private static final String RESULT = ".result";

    private final GridJournal journal;
    private final GridDisplay display;
    private final Clock clock;
    private final Map<Integer, String> lastLines = new ConcurrentHashMap<>();

    public GridFollower(GridJournal journal, GridDisplay display, Clock clock) {
        this.journal = journal;
        this.display = display;
        this.clock = clock;
    }

    /** Returns the files of an attempt of a job: the first log has the name of the job, and the others also the attempt. */
    public static GridRun.Files files(Path folder, GridJob job, int attempt) {
        String name = job.fileName() + "." + Math.max(1, attempt);
        String log = attempt <= 1 ? job.fileName() : name;
        return new GridRun.Files(folder.resolve(log + ".log"), folder.resolve(name + RESULT));
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
                return; // only the last line is shown
            }
        }
    }

    @Override
    public void ended(GridJob job, ProcessResult ending) {
        JobRecord started = journal.record(job.number());
        Path file = files(journal.folder(), job, started.attempts()).result();
        JsonElement result = JobResult.read(file, lastLines.getOrDefault(job.number(), ""));
        ExitCause cause = ending.cause();
        if (cause.isSuccess()) {
            keep(file, journal.folder().resolve(job.fileName() + RESULT));
        }
        JobRecord end = new JobRecord(
                state(cause), started.attempts(), started.slot(), cause.exitCode(), cause.text(), ending.ran(), result);
        journal.ended(job.number(), end);
        display.ended(job, end);
        if (ending.outputTrouble() != null) {
            display.note("not all output of job " + job.number() + " was kept: " + ending.outputTrouble());
        }
    }

    /** Renames the result of a successful attempt for its job, before the journal records the end: a done job has its file. */
    private void keep(Path file, Path kept) {
        try {
            if (Files.exists(file)) {
                Files.move(file, kept, StandardCopyOption.ATOMIC_MOVE);
            } else {
                Files.deleteIfExists(kept); // from an interrupted attempt of an earlier release
            }
        } catch (IOException e) {
            display.note("cannot keep a result: file=" + kept + " reason=" + e);
        }
    }

    private static JobState state(ExitCause cause) {
        boolean isStopped = cause instanceof ExitCause.Ended ended && ended.reason() == EndReason.CANCELLED;
        return cause.isSuccess() ? JobState.DONE : isStopped ? JobState.STOPPED : JobState.FAILED;
    }
}
