package dev.larder.command;

import dev.larder.command.grid.DeviceSlots;
import dev.larder.command.grid.GridDisplay;
import dev.larder.command.grid.GridFollower;
import dev.larder.command.grid.GridJournal;
import dev.larder.command.grid.GridJournal.Begun;
import dev.larder.command.grid.GridLines;
import dev.larder.command.grid.GridOnTerminal;
import dev.larder.command.grid.GridReport;
import dev.larder.command.grid.GridStop;
import dev.larder.command.grid.JobRecord;
import dev.larder.command.grid.JobState;
import dev.larder.command.output.Table;
import dev.larder.command.output.Units;
import dev.larder.command.program.Caller;
import dev.larder.command.program.ShellWords;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.launch.grid.Axis;
import dev.larder.launch.grid.GridJob;
import dev.larder.launch.grid.GridPlan;
import dev.larder.launch.grid.GridRun;
import dev.larder.launch.process.ChildProcess;
import dev.larder.launch.process.PoolSlot;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Runs a command with each value of each parameter, one job at a time on each device. */
@Command(
        name = "grid",
        description = {
            "Run a command once for each combination of parameter values, one job at a time on each device.",
            "A parameter is NAME=VALUE,VALUE, NAME=0..3 (both ends included) or NAME=0..1:0.25 (in steps). In the"
                    + " command, {NAME} stands for its value, {{NAME}} for literal braces. A job also finds each"
                    + " value in $$LARDER_PARAM_<NAME>, its device in $$CUDA_VISIBLE_DEVICES and $$LARDER_DEVICE,"
                    + " and in $$LARDER_RESULT the file for its result: a JSON object, or text. Without that file,"
                    + " its last line of output is its result.",
            "A folder keeps a log for each job, and a journal. After Ctrl-C, a crash or a power cut, the same"
                    + " command line with the same --out continues, and so does --resume; finished jobs do not run"
                    + " again. Ctrl-C asks the running jobs to end; a second Ctrl-C kills them."
        },
        footer = {
            "",
            "Exit codes: 0 all jobs are done; 1 some are not; 130 interrupted.",
            "",
            "  larder grid --devices all lr=1e-3,1e-4 seed=0..3 -- java -jar t.jar --lr {lr} --seed {seed}"
        },
        customSynopsis = {
            "larder grid [--devices all|N|LIST] [--per-device K] [--out DIR] [--timeout D]",
            "            [--retry-failed] [--stop-on-failure] [--dry-run] [--csv FILE] [--json]",
            "            NAME=VALUES... -- CMD...",
            "       larder grid --resume DIR [OPTIONS]"
        })
final class Grid implements Callable<Integer> {
    private static final String FOLDER_VARIABLE = "LARDER_GRID";
    private static final int SOME_FAILED = 1;
    private static final Duration TICK = Duration.ofMillis(500);
    private static final DateTimeFormatter FOLDER_TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd-HHmmss");

    @ParentCommand
    LarderCommand larder;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--devices",
            paramLabel = "DEVICES",
            description = "all GPUs (default; the host where there is none), how many (4), or which (0,2).")
    @Nullable
    String devices;

    @Option(names = "--per-device", paramLabel = "K", description = "How many jobs share a device. Default: 1.")
    @Nullable
    Integer perDevice;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "The folder for logs and the journal. Default: grid-<date-time> here.")
    @Nullable
    Path out;

    @Option(names = "--resume", paramLabel = "DIR", description = "Continue the grid in this folder.")
    @Nullable
    Path resume;

    @Option(names = "--retry-failed", description = "Run failed jobs again.")
    boolean retryFailed;

    @Option(
            names = "--timeout",
            paramLabel = "D",
            converter = Units.DurationConverter.class,
            description = "How long a job may run before it fails. Default: no limit.")
    @Nullable
    Duration timeout;

    @Option(names = "--stop-on-failure", description = "Start no further job once one has failed.")
    boolean stopsOnFailure;

    @Option(names = "--dry-run", description = "Print the jobs without running them.")
    boolean dryRun;

    @Option(names = "--csv", paramLabel = "FILE", description = "Also write the results to FILE.")
    @Nullable
    Path csv;

    @Option(names = "--json", description = "Print the results as one JSON object.")
    boolean json;

    @Parameters(paramLabel = "NAME=VALUES... -- CMD...", description = "The parameters, and the command.")
    List<String> words = List.of();

    private final List<String> notes = new ArrayList<>();

    @Override
    public Integer call() {
        check();
        if (dryRun) {
            return list();
        }
        try (GridJournal journal = GridJournal.open(folder())) {
            Begun begun = begin(journal);
            List<GridJob> jobs = begun.plan().jobs();
            List<GridJob> open = jobs.stream()
                    .filter(job -> isOpen(journal.record(job.number()).state()))
                    .toList();
            killLeftovers(journal, jobs);
            boolean interrupted = !open.isEmpty() && run(journal, begun, jobs, open);
            GridReport report = report(journal, jobs);
            print(report);
            if (interrupted) {
                larder.err().println("larder: interrupted; to continue: larder grid --resume " + journal.folder());
                return ErrorCode.INTERRUPTED.number();
            }
            return report.count(JobState.DONE) == jobs.size() ? 0 : SOME_FAILED;
        }
    }

    private void check() {
        if (perDevice != null && perDevice < 1) {
            throw new ParameterException(spec.commandLine(), "--per-device is below 1: " + perDevice);
        }
        if (resume != null && (out != null || !words.isEmpty() || dryRun)) {
            throw new ParameterException(
                    spec.commandLine(), "--resume takes parameters, command and folder from the grid it continues");
        }
        if (resume != null && !Files.isRegularFile(resume.resolve("journal"))) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no grid in this folder")
                    .with("folder", resume)
                    .remedy("give the folder that an earlier grid printed");
        }
        if (devices != null) {
            DeviceSlots.check(devices);
        }
    }

    /** Parses the original words before and after the two dashes, which picocli drops. */
    private GridPlan plan() {
        List<String> all = spec.commandLine().getParseResult().originalArgs();
        int dashes = all.indexOf("--");
        if (dashes < 0) {
            throw new ParameterException(spec.commandLine(), "no command: it goes after --");
        }
        List<String> command = all.subList(dashes + 1, all.size());
        List<Axis> axes = words.subList(0, words.size() - command.size()).stream()
                .map(Axis::parse)
                .toList();
        return new GridPlan(axes, command);
    }

    private int list() {
        List<GridJob> jobs = plan().jobs();
        if (json) {
            List<GridReport.Line> lines = jobs.stream()
                    .map(job -> new GridReport.Line(job, JobRecord.NEW, Path.of("")))
                    .toList();
            larder.out().println(new GridReport(Path.of(""), lines).json());
            return 0;
        }
        Table table = Table.of(List.of(">JOB", "PARAMETERS", "COMMAND"));
        for (GridJob job : jobs) {
            table.row(List.of(Integer.toString(job.number()), job.text(), ShellWords.quoted(job.words())));
        }
        table.lines().forEach(larder.out()::println);
        return 0;
    }

    private Path folder() {
        if (resume != null) {
            return resume.toAbsolutePath().normalize();
        }
        plan(); // wrong usage leaves no folder behind
        Path named = out == null ? freshFolder() : out;
        return named.toAbsolutePath().normalize();
    }

    private static Path freshFolder() {
        String name = "grid-" + LocalDateTime.now(ZoneId.systemDefault()).format(FOLDER_TIME);
        for (int number = 1; ; number++) {
            Path folder = Path.of(number == 1 ? name : name + "-" + number);
            try {
                return Files.createDirectory(folder);
            } catch (FileAlreadyExistsException e) {
                // of a grid that was started in the same second
            } catch (IOException e) {
                throw Failure.of(ErrorCode.REFUSED, "cannot make a folder for the grid")
                        .with("folder", folder)
                        .with("reason", e)
                        .cause(e)
                        .remedy("give --out a folder that can be written to");
            }
        }
    }

    private Begun begin(GridJournal journal) {
        Begun begun = journal.begun();
        if (begun != null && resume == null && !begun.plan().equals(plan())) {
            throw Failure.of(
                            ErrorCode.REFUSED, "the folder is another grid's, with other parameters or another command")
                    .with("folder", journal.folder())
                    .remedy("give another --out, or continue that grid: larder grid --resume " + journal.folder());
        }
        if (begun != null) {
            return begun;
        }
        if (resume != null) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the grid died before it wrote its journal")
                    .with("folder", journal.folder())
                    .remedy("start it again");
        }
        Begun now = new Begun(
                plan(),
                Path.of("").toAbsolutePath(),
                devices == null ? DeviceSlots.ALL : devices,
                perDevice == null ? 1 : perDevice);
        journal.begin(now);
        return now;
    }

    private boolean isOpen(JobState state) {
        return switch (state) {
            case DONE -> false;
            case FAILED -> retryFailed;
            case WAITING, RUNNING, STOPPED -> true;
        };
    }

    /** A grid that was killed may have jobs that are not quite dead. */
    private static void killLeftovers(GridJournal journal, List<GridJob> jobs) {
        boolean died =
                jobs.stream().anyMatch(job -> journal.record(job.number()).state() == JobState.RUNNING);
        if (died
                && !ChildProcess.killStartedWith(
                        FOLDER_VARIABLE, journal.folder().toString())) {
            throw Failure.of(ErrorCode.REFUSED, "jobs of this grid still run, and cannot be killed")
                    .with("folder", journal.folder())
                    .remedy("find processes with " + FOLDER_VARIABLE + "=" + journal.folder()
                            + " in their environment");
        }
    }

    /** Runs jobs; returns true if they were stopped. */
    private boolean run(GridJournal journal, Begun begun, List<GridJob> jobs, List<GridJob> open) {
        List<PoolSlot> slots = slots(begun);
        try (GridDisplay display = display(jobs.size(), jobs.size() - open.size())) {
            GridRun run = new GridRun(slots, settings(journal, begun.workFolder()), follower(journal, display));
            try {
                GridStop stop = GridStop.install(run, display);
                notes.forEach(display::note);
                display.note("grid: jobs=" + open.size() + " of " + jobs.size() + " places=" + slots.size() + " folder="
                        + journal.folder());
                for (GridJob job : open) {
                    int attempt = journal.record(job.number()).attempts() + 1;
                    submit(run, job, GridFollower.files(journal.folder(), job, attempt), stop);
                }
                while (!run.await(TICK)) {
                    display.refresh();
                }
                return stop.isAsked();
            } finally {
                run.kill();
            }
        }
    }

    private static void submit(GridRun run, GridJob job, GridRun.Files files, GridStop stop) {
        try {
            if (!stop.isAsked()) {
                run.submit(job, files);
            }
        } catch (IllegalStateException e) {
            // stopped meanwhile: it waits for another time
        }
    }

    private static GridFollower follower(GridJournal journal, GridDisplay display) {
        return new GridFollower(journal, display, Clock.systemUTC());
    }

    private GridDisplay display(int jobs, int done) {
        return GridOnTerminal.isThere()
                ? new GridOnTerminal(larder.err(), jobs, done, System::nanoTime)
                : new GridLines(larder.err(), jobs, done);
    }

    /** Returns the slots. A resumed grid uses the devices of its first start, unless options name others. */
    private List<PoolSlot> slots(Begun begun) {
        boolean isCudaMachine = Files.exists(Path.of("/dev/nvidiactl"));
        return new DeviceSlots(
                        devices == null ? begun.devices() : devices,
                        perDevice == null ? begun.perDevice() : perDevice,
                        System.getenv("CUDA_VISIBLE_DEVICES"))
                .slots(() -> DeviceSlots.ask(notes), isCudaMachine, notes);
    }

    private GridRun.Settings settings(GridJournal journal, Path workFolder) {
        Map<String, @Nullable String> environment = new HashMap<>(Caller.variables(System.getProperties()));
        environment.put(FOLDER_VARIABLE, journal.folder().toString());
        if (larder.store != null) {
            environment.put(StoreLocation.STORE_VARIABLE, larder.store().toString());
        }
        return new GridRun.Settings(workFolder, environment, timeout, stopsOnFailure);
    }

    private static GridReport report(GridJournal journal, List<GridJob> jobs) {
        List<GridReport.Line> lines = new ArrayList<>();
        for (GridJob job : jobs) {
            JobRecord record = journal.record(job.number());
            Path log =
                    GridFollower.files(journal.folder(), job, record.attempts()).log();
            lines.add(new GridReport.Line(job, record, log));
        }
        return new GridReport(journal.folder(), lines);
    }

    private void print(GridReport report) {
        if (json) {
            larder.out().println(report.json());
        } else {
            report.table().forEach(larder.out()::println);
        }
        larder.err().println("larder: grid: " + report.summary() + "; folder=" + report.folder());
        if (csv != null) {
            write(csv.toAbsolutePath(), report.csv());
        }
    }

    /** Writes a file that is whole or not there. */
    private static void write(Path file, List<String> lines) {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try {
            Files.write(part, lines);
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.NO_SPACE, "cannot write the results")
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .remedy("give --csv a file that can be written; larder grid --resume prints the results again");
        }
    }
}
