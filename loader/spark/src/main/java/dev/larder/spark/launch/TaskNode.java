package dev.larder.spark.launch;

import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.launch.internal.MasterPort;
import dev.larder.launch.process.ChildProcess;
import dev.larder.launch.process.ExitCause;
import dev.larder.launch.process.OutputLine;
import dev.larder.launch.process.OutputRedirect;
import dev.larder.launch.process.ProcessResult;
import dev.larder.launch.process.ProcessSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.resource.ResourceInformation;
import org.jspecify.annotations.Nullable;

/**
 * One node, in a task of an executor. It runs the same launcher that users and Slurm start, and gives it the address of the others. The
 * launcher and its ranks die with the executor.
 *
 * <p>A task returns the end of the launch, even if the launch failed. If a task throws, Spark starts the whole gang again.
 */
final class TaskNode {
    private static final String COMMAND_VARIABLE = "LARDER_COMMAND";
    private static final String GPUS = "gpu";
    private static final String OWN_WORDS = "larder: ";
    private static final long LOOK_MS = 100;
    private static final int LAST_WORDS = 12;

    /** The exit codes of a launcher after HUP, INT and TERM. */
    private static final Set<Integer> STOPS = Set.of(129, 130, 143);

    private final GangPlan plan;
    private final BarrierTaskContext context;
    private final int node;
    private final Deque<String> words = new ArrayDeque<>();

    TaskNode(GangPlan plan, BarrierTaskContext context) {
        this.plan = plan;
        this.context = context;
        this.node = context.partitionId();
    }

    NodeEnd run() {
        String port = "";
        try (MasterPort meeting = node == 0 ? MasterPort.takeForOthers(0) : null) {
            if (meeting != null) {
                port = Integer.toString(meeting.number());
            }
            String[] told = context.allGather(ExecutorSeat.place(plan.store()) + "\t" + port);
            String[] places =
                    Arrays.stream(told).map(text -> text.split("\t", -1)[0]).toArray(String[]::new);
            ExecutorSeat seat = ExecutorSeat.of(node, places, plan.store());
            return follow(seat, host(0) + ":" + told[0].split("\t", -1)[1]);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot identify the machine of this executor")
                    .with("reason", e)
                    .cause(e)
                    .remedy("mount /proc in the containers of executors");
        }
    }

    /** Returns the host in Spark's address of a task's executor. */
    private String host(int task) {
        String address = context.getTaskInfos()[task].address();
        int colon = address.lastIndexOf(':');
        return colon < 0 ? address : address.substring(0, colon); // keeps the brackets of an IPv6 address
    }

    private NodeEnd follow(ExecutorSeat seat, String endpoint) {
        String larder = System.getenv().getOrDefault(COMMAND_VARIABLE, plan.program());
        LineSender sender = node == 0 ? new LineSender(plan.launch()) : null;
        ProcessSpec spec = new ProcessSpec(
                        plan.words(larder, seat, endpoint, context.stageAttemptNumber()),
                        environment(),
                        folder(),
                        OutputRedirect.apart(null, null, lines -> lines.forEach(line -> take(line, sender))),
                        false)
                .withPromptPython();
        try (ChildProcess launcher = ChildProcess.start(spec)) {
            return judge(awaitEnd(launcher), larder);
        } finally {
            if (sender != null) {
                sender.close();
            }
        }
    }

    private Map<String, @Nullable String> environment() {
        Map<String, @Nullable String> environment = new HashMap<>();
        environment.put(RunSecret.VARIABLE, plan.secret());
        ResourceInformation gpus = context.resourcesJMap().get(GPUS);
        if (gpus != null) {
            environment.put("CUDA_VISIBLE_DEVICES", String.join(",", gpus.addresses()));
        }
        return environment;
    }

    private @Nullable Path folder() {
        Path folder = Path.of(plan.folder());
        return Files.isDirectory(folder) ? folder : null;
    }

    /** Prints a line of the launcher in the executor's own output, sends it to the driver, and keeps the last messages. */
    private void take(OutputLine line, @Nullable LineSender sender) {
        if (line.isError()) {
            synchronized (words) {
                if (line.text().startsWith(OWN_WORDS) || !words.isEmpty()) {
                    words.add(line.text());
                }
                if (words.size() > LAST_WORDS) {
                    words.remove();
                }
            }
        }
        if (sender != null) {
            sender.send(line.text(), line.isError());
        }
        (line.isError() ? System.err : System.out).println(line.text());
    }

    /** Waits for the end of the launcher. If Spark kills the task, sends the launcher a signal and continues to wait. */
    private ProcessResult awaitEnd(ChildProcess launcher) {
        boolean isAsked = false;
        long patience = TimeUnit.MILLISECONDS.toNanos(plan.graceMs()) + TimeUnit.SECONDS.toNanos(15);
        long asked = 0;
        while (true) {
            try {
                ProcessResult end = launcher.onEnd().get(LOOK_MS, TimeUnit.MILLISECONDS);
                if (isAsked) {
                    throw new TaskKilledException(context.getKillReason().getOrElse(() -> "killed"));
                }
                return end;
            } catch (TimeoutException stillRuns) {
                if (isAsked && System.nanoTime() - asked > patience) {
                    launcher.close();
                }
            } catch (InterruptedException e) {
                launcher.close();
                Thread.currentThread().interrupt();
                throw new TaskKilledException("interrupted");
            } catch (ExecutionException e) {
                throw new AssertionError(e);
            }
            if (!isAsked && context.isInterrupted()) {
                isAsked = true;
                asked = System.nanoTime();
                boolean isOver = context.getKillReason().exists(reason -> reason.contains(GangPlan.STOPPED));
                launcher.signal(isOver ? "TERM" : "HUP"); // after HUP, its daemon stays for another gang
            }
        }
    }

    /** Returns the end of the launch; throws if a lost node ended it, because another gang may succeed. */
    private NodeEnd judge(ProcessResult end, String larder) {
        ExitCause cause = end.cause();
        String said;
        synchronized (words) {
            said = String.join("\n", words);
        }
        if (cause instanceof ExitCause.NotStarted) {
            return end(
                    ErrorCode.USAGE.number(),
                    "the larder command is missing on a node: node=" + node + " host=" + host(node) + " program="
                            + larder + " reason=" + cause.text()
                            + "; install Larder on all nodes, and set its path: --conf spark.executorEnv."
                            + COMMAND_VARIABLE
                            + "=PATH");
        }
        int code = cause.exitCode();
        boolean isCutShort =
                code == ErrorCode.DEADLINE.number() || (code > ExitCause.SIGNAL_BASE && !STOPS.contains(code));
        if (isCutShort && said.lines().noneMatch(TaskNode::isVerdict)) {
            throw Failure.of(ErrorCode.DEADLINE, "a node's launcher ended before its ranks")
                    .with("node", node)
                    .with("host", host(node))
                    .with("cause", cause.text())
                    .with("said", said)
                    .exception();
        }
        return end(code, code == 0 ? "" : said);
    }

    /** Returns whether a line reports a failure of the ranks without a restart. */
    private static boolean isVerdict(String line) {
        return line.contains("a rank failed: ") && !line.contains("; restarting ");
    }

    private NodeEnd end(int exitCode, String message) {
        return new NodeEnd(node, context.stageAttemptNumber(), host(node), exitCode, message);
    }
}
