package dev.larder.launch.process;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.launch.internal.MasterPort;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs the ranks of a {@link LaunchPlan} as {@code torchrun} does: every rank is a fresh process with RANK, WORLD_SIZE and the
 * rest in its environment. If one fails, the others are ended, and all start again if the plan allows that.
 *
 * <p>A JVM cannot be forked: the child would have one thread, no collector and no compiler, and all locks of other threads. So ranks
 * share only the data that they open.
 *
 * <p>Ranks and their descendants end with this process, even if it is killed. The caller closes a launch. Thread-safe.
 */
public final class Launcher implements RunningRanks, AutoCloseable {
    private static final Duration CLOSING = Duration.ofSeconds(30);

    private final LaunchPlan plan;
    private final LaunchListener listener;
    private final StopRequest stop = new StopRequest();
    private final CompletableFuture<LaunchResult> result = new CompletableFuture<>();
    private final Thread thread;

    private Launcher(LaunchPlan plan, LaunchListener listener) {
        this.plan = plan;
        this.listener = listener;
        this.thread = new Thread(this::run, "larder-launcher");
        this.thread.setDaemon(true);
    }

    /**
     * Starts the ranks, and does not wait. Fails if the port of the plan is in use. A plan for one of several machines runs only once.
     */
    public static Launcher start(LaunchPlan plan, LaunchListener listener) {
        if (plan.node() == null) {
            MasterPort.take(plan.masterPort()).close();
        }
        Launcher launcher = new Launcher(plan, listener);
        launcher.thread.start();
        return launcher;
    }

    /** Returns the variables that divide the cores among the ranks of a plan, for people; may be empty. */
    public static String coreShare(LaunchPlan plan) {
        return CoreShare.among(plan.worldSize()).text(RankEnvironment.withOwn(plan.environment()));
    }

    /**
     * Waits for the end of the last attempt.
     *
     * @throws dev.larder.error.LarderException DEADLINE if ranks still run then, INTERRUPTED if this thread was interrupted
     */
    public LaunchResult join(Duration timeout) {
        try {
            return result.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw Failure.of(ErrorCode.DEADLINE, "ranks still run")
                    .with("command", plan.words().get(0))
                    .with("waited", timeout)
                    .remedy("wait longer, or stop them");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "waiting for ranks was interrupted")
                    .with("command", plan.words().get(0))
                    .exception();
        } catch (ExecutionException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "launch failed")
                    .with("command", plan.words().get(0))
                    .with("reason", e.getCause())
                    .cause(e)
                    .exception();
        }
    }

    /** Returns the future result. */
    public CompletableFuture<LaunchResult> onEnd() {
        return result.copy();
    }

    @Override
    public void interrupt() {
        stop.ask(StopRequest.Kind.INTERRUPT);
    }

    @Override
    public void terminate() {
        stop.ask(StopRequest.Kind.TERMINATE);
    }

    @Override
    public void signal(String name) {
        stop.signal(name);
    }

    @Override
    public void kill() {
        stop.ask(StopRequest.Kind.KILL);
    }

    private void run() {
        try {
            NodePlace node = plan.node();
            result.complete(node == null ? runAttempts() : runOnce(node));
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    private LaunchResult runOnce(NodePlace node) {
        listener.attemptStarts(node.round(), node.masterPort());
        AttemptResult end = new RankProcesses(new RankEnvironment(plan, node), listener, stop).run();
        listener.attemptEnded(end);
        return new LaunchResult(List.of(end), stop.isAsked());
    }

    private LaunchResult runAttempts() {
        String runId = runId();
        List<AttemptResult> attempts = new ArrayList<>();
        boolean goesOn = true;
        for (int attempt = 0; goesOn; attempt++) {
            MasterPort taken = port(attempts);
            if (taken == null) {
                break;
            }
            try (MasterPort port = taken) {
                listener.attemptStarts(attempt, port.number());
                RankEnvironment environment = RankEnvironment.onOneMachine(plan, runId, attempt, port.number());
                AttemptResult end = new RankProcesses(environment, listener, stop).run();
                attempts.add(end);
                listener.attemptEnded(end);
                goesOn = end.isWorthARestart() && attempt < plan.maxRestarts() && !stop.isAsked();
            }
        }
        return new LaunchResult(attempts, stop.isAsked());
    }

    /** Takes the port of an attempt; null if it is no longer free, so that the last attempt is the result. */
    private @Nullable MasterPort port(List<AttemptResult> attempts) {
        try {
            return MasterPort.take(plan.masterPort());
        } catch (LarderException e) {
            if (attempts.isEmpty()) {
                throw e;
            }
            listener.cannotStartAgain(String.valueOf(e.getMessage()));
            return null;
        }
    }

    private static String runId() {
        byte[] id = new byte[8];
        new SecureRandom().nextBytes(id);
        return HexFormat.of().formatHex(id);
    }

    /** Kills all running ranks, and waits until they are gone; gives up after 30 s. */
    @Override
    public void close() {
        kill();
        try {
            thread.join(CLOSING.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
