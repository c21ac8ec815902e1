package dev.larder.command.launch;

import dev.larder.command.output.ByteWriter;
import dev.larder.command.output.Units;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.launch.process.AttemptResult;
import dev.larder.launch.process.ExitCause.NotStarted;
import dev.larder.launch.process.LaunchListener;
import dev.larder.launch.process.LaunchPlan;
import dev.larder.launch.process.LaunchResult;
import dev.larder.launch.process.Launcher;
import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.RankResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Shows the lines of ranks with their numbers, and on standard error the events of the launch. */
public final class RankDisplay implements LaunchListener {
    private static final int LAST_LINES = 5;
    private static final int LINES_LENGTH = 4 << 10;

    private final PrintWriter out;
    private final PrintWriter err;
    private final RankOutputOptions.Choice choice;
    private final LaunchPlan plan;
    private final LaunchSignals signals;
    private final @Nullable Path runFolder;
    private volatile int firstRank;

    /** Shows through these writers, which stay open. {@code runFolder} is null without logs. */
    public RankDisplay(
            PrintWriter out, PrintWriter err, RankOutputOptions.Choice choice, LaunchPlan plan, LaunchSignals signals) {
        this.out = out;
        this.err = err;
        this.choice = choice;
        this.plan = plan;
        this.signals = signals;
        Path folder = choice.logFolder();
        this.runFolder = folder == null ? null : newFolder(folder);
    }

    /** Creates a folder for this run, so that launches with one log folder do not mix. */
    private static Path newFolder(Path parent) {
        try {
            Files.createDirectories(parent);
            return Files.createTempDirectory(parent, "run_");
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot make a folder for the logs")
                    .with("folder", parent)
                    .with("reason", e)
                    .cause(e)
                    .remedy("name another with --log-dir");
        }
    }

    @Override
    public void attemptStarts(int attempt, int masterPort) {
        if (attempt > 0 || choice.isQuiet()) {
            return;
        }
        String share = Launcher.coreShare(plan);
        say("launching " + plan.worldSize() + (plan.worldSize() == 1 ? " rank" : " ranks") + ": masterPort="
                + masterPort + (runFolder == null ? "" : " logs=" + runFolder) + (share.isEmpty() ? "" : "; " + share));
    }

    @Override
    public RankLogs logs(int attempt, int rank) {
        Path run = runFolder;
        if (run == null) {
            return RankLogs.NONE;
        }
        Path folder = run.resolve("attempt_" + attempt).resolve(Integer.toString(rank));
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            say("cannot keep the output of a rank: folder=" + folder + " reason=" + e);
            return RankLogs.NONE;
        }
        return new RankLogs(
                choice.kept().has(rank, false) ? folder.resolve("stdout.log") : null,
                choice.kept().has(rank, true) ? folder.resolve("stderr.log") : null,
                folder.resolve("error.json").toAbsolutePath());
    }

    boolean isQuiet() {
        return choice.isQuiet();
    }

    /** Sets the number of the first rank of this machine. */
    void firstRank(int rank) {
        firstRank = rank;
    }

    @Override
    public void lines(int rank, List<OutputLine> lines) {
        show(rank, Integer.toString(firstRank + rank), lines);
    }

    /** Shows lines of one stream with the name of a rank, unless the options hide them. */
    void show(int localRank, String name, List<OutputLine> lines) {
        boolean isError = lines.get(0).isError();
        if (choice.hidden().has(localRank, isError)) {
            return;
        }
        write(choice.hasPrefix() ? "[" + name + "] " : "", lines, isError ? err : out, out, signals);
    }

    /** Writes lines of one stream by one call, so that they stay together and cost little. */
    static void write(
            String prefix, List<OutputLine> lines, PrintWriter stream, PrintWriter out, LaunchSignals signals) {
        byte[] start = prefix.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(2 * LINES_LENGTH);
        for (OutputLine line : lines) {
            bytes.writeBytes(start);
            bytes.writeBytes(line.bytes());
            bytes.write(line.isOverwritten() ? '\r' : '\n');
        }
        synchronized (stream) {
            ByteWriter.write(stream, bytes);
            if (stream.checkError() && stream == out) { // the writer has flushed
                signals.pipeIsBroken();
            }
        }
    }

    @Override
    public void othersAreEnded(int attempt, int failedRank) {
        if (!choice.isQuiet()) {
            say("rank " + failedRank + " failed: ending the others");
        }
    }

    @Override
    public void attemptEnded(AttemptResult end) {
        RankResult first = end.firstFailure();
        boolean startsAgain = end.isWorthARestart() && end.attempt() < plan.maxRestarts() && signals.exitCode() == 0;
        if (first != null && startsAgain && !choice.isQuiet()) {
            say("attempt " + (end.attempt() + 1) + " of " + (plan.maxRestarts() + 1) + " failed after "
                    + Units.duration(end.ran()) + ": " + describe(first) + "; restarting all ranks");
        }
    }

    @Override
    public void cannotStartAgain(String reason) {
        say("the ranks cannot restart: " + reason);
    }

    /** Prints the end of the launch if it failed or was stopped. */
    public void ended(LaunchResult result) {
        RankResult first = result.firstFailure();
        if (first != null) {
            say("a rank failed: " + describe(first) + " attempt="
                    + result.attempts().size() + "/" + (plan.maxRestarts() + 1) + advice(first));
            List<String> lines = first.lastLines();
            lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size())
                    .forEach(line -> say("  [" + first.rank() + "] " + line));
        }
        if (!result.attempts().isEmpty()) {
            result.last().ranks().forEach(this::sayTrouble);
        }
        if (result.isStopped() && !choice.isQuiet()) {
            say("stopped: no rank is running");
        }
    }

    void sayTrouble(RankResult end) {
        String trouble = end.ending().outputTrouble();
        if (trouble != null) {
            say("not all output of a rank was kept: rank=" + end.rank() + " reason=" + trouble);
        }
    }

    private static String describe(RankResult end) {
        return "rank=" + end.rank() + " pid=" + end.pid() + " cause="
                + end.cause().text() + " after=" + Units.duration(end.ending().ran());
    }

    private String advice(RankResult first) {
        if (first.cause() instanceof NotStarted) {
            String program = plan.words().get(0);
            boolean isScript = program.endsWith(".py") && Files.exists(Path.of(program));
            return isScript ? "; a Python script needs its interpreter: -- python3 " + program : "";
        }
        return first.lastLines().isEmpty() ? "; it printed nothing" : "; its last lines:";
    }

    /** Prints a message of the launch itself. */
    public void say(String text) {
        synchronized (err) {
            err.println("larder: " + text);
        }
    }
}
