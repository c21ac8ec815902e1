package dev.larder.launch.process;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.process.Guardian;
import dev.larder.internal.process.ProcessFamily;
import dev.larder.launch.internal.MemoryKillClaims;
import dev.larder.launch.internal.MemoryKills;
import dev.larder.launch.process.ExitCause.Ended;
import dev.larder.launch.process.ExitCause.NotStarted;
import dev.larder.launch.process.ExitCause.OutOfMemory;
import dev.larder.launch.process.ExitCause.Signalled;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A fresh program that ends with this process, together with its descendants.
 *
 * <p>It is always a new program, never a fork of this JVM: a forked child has one thread, so it has no compiler, no collector and no
 * reference handler, and locks of other threads stay locked indefinitely.
 *
 * <p>When it ends, its descendants are ended before {@link #onEnd} completes, including daemons. If this JVM dies, even by kill -9, the
 * kernel kills the program, and a {@link Guardian} kills its descendants. Two kinds of processes escape: those of another user, and those
 * that leave both the session and the environment of the program.
 *
 * <p>Thread-safe. The caller closes it.
 */
public final class ChildProcess implements AutoCloseable {
    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final MemoryKillClaims MEMORY_KILLS = new MemoryKillClaims(MemoryKills::now, System::nanoTime);
    private static final Duration LEFTOVER_GRACE = Duration.ofMillis(500);
    private static final long LOOK_AGAIN_MS = 20;
    private static final long LAST_OUTPUT_MS = 2000;
    private static final Duration CLOSING = Duration.ofSeconds(10);

    private final ProcessSpec program;
    private final String name;
    private final ProcessFamily family = ProcessFamily.begin();
    private final List<OutputPump> pumps = new ArrayList<>();
    private final CompletableFuture<ProcessResult> ending = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> death = new CompletableFuture<>();
    private final CountDownLatch started = new CountDownLatch(1);
    private final long begin = System.nanoTime();
    private final Object lock = new Object();
    private volatile @Nullable Process process;
    private volatile @Nullable Guardian guardian;
    private volatile String firstLine = "";
    private @Nullable EndReason endReason;
    private long killNanos;

    private ChildProcess(ProcessSpec program) {
        this.program = program;
        this.name = "larder-child-" + NUMBERS.incrementAndGet();
    }

    /**
     * Starts a program. If that fails, the child has ended already, with {@link NotStarted} as its cause.
     */
    public static ChildProcess start(ProcessSpec program) {
        ChildProcess child = new ChildProcess(program);
        // The kernel ends a child when the thread that started it ends, so that thread stays.
        Thread thread = new Thread(child::live, child.name);
        thread.setDaemon(true);
        thread.start();
        boolean interrupted = false;
        while (true) {
            try {
                child.started.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true; // starting takes milliseconds
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return child;
    }

    /**
     * Kills the remains of programs that a dead process started with a variable of this value in their environment. Its guardian may be
     * doing the same. Waits until nothing is left, about a second at most; false if a process cannot be killed.
     */
    public static boolean killStartedWith(String variable, String value) {
        return ProcessFamily.startedWith(variable, value).kill();
    }

    /** Returns the id of its process, session and process group; −1 if it could not be started. */
    public long pid() {
        Process running = process;
        return running == null ? -1 : running.pid();
    }

    /** Returns whether it or one of its descendants runs. */
    public boolean isAlive() {
        return !ending.isDone();
    }

    /** Returns the future result, which completes when no descendant is left and the last line has been read. Never fails. */
    public CompletableFuture<ProcessResult> onEnd() {
        return ending.copy();
    }

    /**
     * Waits for its end.
     *
     * @throws dev.larder.error.LarderException DEADLINE if it still runs then, INTERRUPTED if this thread was interrupted
     */
    public ProcessResult await(Duration timeout) {
        try {
            return ending.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw Failure.of(ErrorCode.DEADLINE, "process still runs")
                    .with("pid", pid())
                    .with("command", program.words().get(0))
                    .with("waitedMs", timeout.toMillis())
                    .remedy("wait longer, or end it");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "waiting for a process was interrupted")
                    .with("pid", pid())
                    .exception();
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Terminates it and its descendants (SIGTERM), and kills those that are left after the grace. Returns immediately; see {@link #onEnd}.
     * Another call can only hasten the end, and the first reason stays. Does nothing after the end.
     */
    public void end(EndReason reason, Duration grace) {
        boolean first;
        synchronized (lock) {
            if (ending.isDone()) {
                return;
            }
            long kill = System.nanoTime() + grace.toNanos();
            first = endReason == null;
            killNanos = first ? kill : killNanos - kill < 0 ? killNanos : kill;
            endReason = first ? reason : endReason;
        }
        if (grace.isZero()) {
            family.kill();
        } else {
            if (first) {
                family.terminate();
            }
            Future<?> kill = DelayedTasks.run(grace, this::killIfLeft);
            var unused = ending.thenRun(() -> kill.cancel(false));
        }
    }

    /** Sends its process group a signal that the JDK cannot send, named without SIG. */
    public void signal(String name) {
        GroupSignal.send(this, name);
    }

    private void killIfLeft() {
        if (!ending.isDone()) {
            family.kill();
        }
    }

    /** Kills it with its descendants, and waits until none is left; gives up after 10 s, because the kernel may hold a process. */
    @Override
    public void close() {
        end(EndReason.CANCELLED, Duration.ZERO);
        try {
            ending.get(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException heldByTheKernel) {
            // it dies when the kernel releases it
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a future that completes at the death of the program itself, while its descendants may run. */
    CompletableFuture<@Nullable Void> onDeath() {
        return death;
    }

    /** Returns the pid of the shell that kills the family after the death of this process. */
    long guardianPid() {
        Guardian watching = guardian;
        return watching == null ? -1 : watching.pid();
    }

    /** Starts the program and stays until it has ended. */
    private void live() {
        MEMORY_KILLS.look();
        ExitCause cause;
        try {
            cause = startAndFollow();
        } catch (RuntimeException | Error e) {
            family.kill();
            cause = new NotStarted(NotStarted.CANNOT_RUN, e.toString());
        }
        Guardian watching = guardian;
        if (watching != null) {
            watching.close();
        }
        ProcessResult end = new ProcessResult(cause, Duration.ofNanos(System.nanoTime() - begin), trouble());
        death.complete(null);
        synchronized (lock) {
            ending.complete(end);
        }
        started.countDown();
    }

    private ExitCause startAndFollow() {
        NotStarted obstacle = Start.obstacle(program);
        if (obstacle != null) {
            return obstacle;
        }
        Process running;
        try {
            openLogs();
            Guardian watching = new Guardian(family);
            guardian = watching;
            running = Start.of(program, family).start();
            family.leadBy(running.pid());
            process = running;
            watching.watch(running.pid());
        } catch (IOException e) {
            pumps.forEach(OutputPump::close);
            return Start.refused(e);
        }
        startPumps(running);
        started.countDown();
        return follow(running);
    }

    private void openLogs() throws IOException {
        OutputRedirect output = program.output();
        Object turn = new Object();
        Consumer<List<OutputLine>> oneAtATime = lines -> {
            synchronized (turn) {
                firstLine = firstLine.isEmpty() ? lines.get(0).text() : firstLine;
                output.reader().accept(lines);
            }
        };
        pumps.add(OutputPump.to(output.log(), false, oneAtATime));
        if (output.isApart()) {
            pumps.add(OutputPump.to(output.errorLog(), true, oneAtATime));
        }
    }

    private void startPumps(Process running) {
        List<InputStream> streams = List.of(running.getInputStream(), running.getErrorStream());
        for (int i = 0; i < pumps.size(); i++) {
            pumps.get(i).start(streams.get(i), name + (i == 0 ? "-out" : "-err"));
        }
    }

    private ExitCause follow(Process running) {
        int code = waitFor(running);
        death.complete(null);
        EndReason reason;
        synchronized (lock) {
            reason = endReason; // a later request, while only descendants run, did not end it
        }
        boolean isKilled = code == ExitCause.SIGNAL_BASE + ExitCause.Signals.KILL;
        String memory = isKilled ? MEMORY_KILLS.claim() : null;
        MEMORY_KILLS.look();
        endLeftovers();
        joinPumps();
        if (reason != null) {
            return new Ended(reason, code);
        }
        NotStarted refused = Start.refused(code, firstLine);
        if (refused != null) {
            return refused;
        }
        ExitCause cause = ExitCause.ofCode(code);
        return memory != null && cause instanceof Signalled ? new OutOfMemory(memory) : cause;
    }

    private static int waitFor(Process running) {
        while (true) {
            try {
                return running.waitFor();
            } catch (InterruptedException e) {
                // no other code has this thread
            }
        }
    }

    /** Ends descendants of the dead program: immediately if it ended by itself, else after the grace of the request. */
    private void endLeftovers() {
        if (family.members().isEmpty()) {
            return;
        }
        synchronized (lock) {
            if (endReason == null) {
                killNanos = System.nanoTime() + LEFTOVER_GRACE.toNanos();
            }
        }
        family.terminate();
        while (!family.members().isEmpty() && isGraceLeft()) {
            pause();
        }
        family.kill();
    }

    private boolean isGraceLeft() {
        synchronized (lock) {
            return killNanos - System.nanoTime() > 0;
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MS);
        } catch (InterruptedException e) {
            // no other code has this thread
        }
    }

    private void joinPumps() {
        for (OutputPump pump : pumps) {
            try {
                pump.join(LAST_OUTPUT_MS);
            } catch (InterruptedException e) {
                // no other code has this thread
            }
        }
    }

    private @Nullable String trouble() {
        List<String> troubles = new ArrayList<>();
        for (OutputPump pump : pumps) {
            String trouble = pump.trouble();
            if (trouble != null) {
                troubles.add(trouble);
            }
        }
        return troubles.isEmpty() ? null : String.join("; ", troubles);
    }
}
