package dev.larder.command.grid;

import dev.larder.command.output.Table;
import dev.larder.command.output.Units;
import dev.larder.command.terminal.TopScreen;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.TerminalSize;
import dev.larder.launch.grid.GridJob;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Draws a table of running and failed jobs, always in the same place below the earlier output. A terminal that is stopped delays only the
 * drawing threads, and no job.
 */
public final class GridOnTerminal implements GridDisplay {
    private static final int STANDARD_ERROR = 2;
    private static final TerminalSize USUAL = new TerminalSize(80, 24);
    private static final List<String> HEADINGS = List.of(">JOB", "PARAMETERS", "STATE", "DEVICE", ">TIME", "LAST LINE");
    private static final String END_OF_LINE = "\u001b[K";
    private static final String BELOW = "\u001b[J";

    private final PrintWriter err;
    private final int jobs;
    private final LongSupplier clock;
    private final long begin;
    private final Object drawing = new Object(); // taken before this object's own lock, never after
    private final Map<Integer, Row> running = new LinkedHashMap<>();
    private final List<Row> failed = new ArrayList<>();
    private final Map<JobState, Integer> counts = new EnumMap<>(JobState.class);
    private int drawn;

    private static final class Row {
        final GridJob job;
        final long begin;
        JobRecord record;
        String line = "";

        Row(GridJob job, JobRecord record, long begin) {
            this.job = job;
            this.record = record;
            this.begin = begin;
        }
    }

    /** Starts the clock. {@code done} jobs had ended before; {@code clock} returns nanoseconds. */
    public GridOnTerminal(PrintWriter err, int jobs, int done, LongSupplier clock) {
        this.err = err;
        this.jobs = jobs;
        this.clock = clock;
        this.begin = clock.getAsLong();
        counts.put(JobState.DONE, done);
    }

    /** Returns whether standard error is a terminal that can draw. */
    public static boolean isThere() {
        return Posix.system().isTerminal(STANDARD_ERROR) && !"dumb".equals(System.getenv("TERM"));
    }

    @Override
    public synchronized void started(GridJob job, JobRecord record) {
        running.put(job.number(), new Row(job, record, clock.getAsLong()));
    }

    @Override
    public synchronized void line(GridJob job, String line) {
        Row row = running.get(job.number());
        if (row != null) {
            row.line = line;
        }
    }

    @Override
    public synchronized void ended(GridJob job, JobRecord record) {
        Row row = running.remove(job.number());
        counts.merge(record.state(), 1, Integer::sum);
        if (row != null && record.state() != JobState.DONE) {
            row.record = record;
            row.line = record.cause();
            failed.add(row);
        }
    }

    @Override
    public void note(String text) {
        synchronized (drawing) {
            err.print(erase() + "larder: " + text + "\n");
            drawn = 0;
            refresh();
        }
    }

    @Override
    public void refresh() {
        synchronized (drawing) {
            draw();
        }
    }

    private void draw() {
        TerminalSize size = Posix.system().terminalSize(STANDARD_ERROR);
        TerminalSize known = size == null ? USUAL : size;
        // the last row stays empty: writing there would scroll
        List<String> lines = TopScreen.fit(lines(), new TerminalSize(known.columns(), Math.max(2, known.rows() - 1)));
        err.print(erase() + String.join(END_OF_LINE + "\n", lines) + END_OF_LINE + "\n");
        err.flush();
        drawn = lines.size();
    }

    /** Returns the lines of the table. */
    synchronized List<String> lines() {
        Table table = Table.of(HEADINGS);
        running.values().forEach(row -> table.row(cells(row, since(row.begin))));
        failed.forEach(row -> table.row(cells(row, row.record.ran())));
        List<String> lines = new ArrayList<>();
        lines.add("larder: " + count(JobState.DONE) + " of " + jobs + " done, " + running.size() + " running, "
                + count(JobState.FAILED) + " failed, " + Units.duration(since(begin)));
        lines.addAll(table.lines());
        return lines;
    }

    private static List<String> cells(Row row, Duration time) {
        return List.of(
                Integer.toString(row.job.number()),
                row.job.text(),
                row.record.state().text(),
                row.record.slot(),
                Units.duration(time),
                JobResult.plain(row.line));
    }

    private int count(JobState state) {
        return counts.getOrDefault(state, 0);
    }

    private Duration since(long nanos) {
        return Duration.ofNanos(clock.getAsLong() - nanos);
    }

    private String erase() {
        return drawn == 0 ? "" : "\u001b[" + drawn + "A\r" + BELOW;
    }

    /** Erases the table, so that the report can replace it. */
    @Override
    public void close() {
        synchronized (drawing) {
            err.print(erase());
            err.flush();
            drawn = 0;
        }
    }
}
