package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks of many users on a few threads. Users take turns, and so do the processes of one user: no task waits for all
 * tasks of another user or process. One process or one member of the group has at most half of the turns at
 * a time, and all members together leave one to the owner. The number of waiting tasks is bounded for each user and in all.
 *
 * <p>A task that is withdrawn before its turn never runs. Thread-safe.
 *
 * <p>Threads start when tasks need them, and take one task after the other. If the system has no thread left, tasks wait for one that is
 * there. So the last thread stays while any task waits or has its turn: then no task can be left without a thread to run it.
 *
 * <p>A thread in a system call that hangs cannot be ended. So a queue {@link #overFiles} takes the turn of a task that is withdrawn
 * while it runs, if it has run for a while and other tasks wait: the task is abandoned, and keeps only its thread. The number of abandoned
 * tasks is bounded for each user and in all; a task beyond that keeps its turn.
 */
public final class FairQueue {
    private static final Logger LOG = LoggerFactory.getLogger(FairQueue.class);
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(10);

    /** A task that is withdrawn while it runs mostly ends by itself before. */
    private static final Duration TIME_TO_END = Duration.ofSeconds(2);

    private final String name;
    private final int turns;
    private final int share;
    private final UserQuota quota;
    private final boolean isAbandoning;
    private final UserQuota mayBeAbandoned;
    private final Duration timeToEnd;
    private final ThreadFactory factory;

    private final Turns<Task> waiting = new Turns<>(task -> task.peer);

    private final Set<Task> running = new LinkedHashSet<>();
    private final Set<Task> abandoned = new LinkedHashSet<>();
    private int threads;
    private int idleThreads;
    private int startingThreads;
    private boolean isClosed;

    /**
     * Creates an empty queue; its threads start with the tasks, and end when they are idle.
     *
     * @param name how its threads are called
     * @param turns how many tasks run at a time
     * @param mostWaiting how many tasks may wait; {@link UserQuota} gives each user a share
     */
    public FairQueue(String name, int turns, int mostWaiting) {
        this(name, turns, mostWaiting, 0, TIME_TO_END, daemonThreads(name));
    }

    FairQueue(String name, int turns, int mostWaiting, int mostAbandoned, Duration timeToEnd, ThreadFactory factory) {
        this.name = name;
        this.turns = turns;
        this.share = Math.max(1, turns / 2);
        this.quota = new UserQuota(
                "too many requests are waiting", mostWaiting, "try again when some of them have been answered");
        this.isAbandoning = mostAbandoned > 0;
        this.mayBeAbandoned = new UserQuota("too many tasks are abandoned", mostAbandoned, "");
        this.timeToEnd = timeToEnd;
        this.factory = factory;
    }

    /** Creates an empty queue for tasks that may hang in a file system; it abandons at most {@code mostAbandoned} of them at a time. */
    public static FairQueue overFiles(String name, int turns, int mostWaiting, int mostAbandoned) {
        return new FairQueue(name, turns, mostWaiting, mostAbandoned, TIME_TO_END, daemonThreads(name));
    }

    private static ThreadFactory daemonThreads(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /**
     * A task that has its turn and a thread.
     *
     * @param queue the name of the queue
     * @param what what it does
     * @param peer for whom
     * @param time since it began
     */
    public record Running(String queue, String what, Peer peer, Duration time, Thread thread) {}

    /** A task that was submitted. */
    @FunctionalInterface
    public interface Ticket {
        /** Withdraws the task; returns whether it never runs. One that runs already may lose its turn. */
        boolean withdraw();
    }

    private final class Task {
        private final Peer peer;
        private final String what;
        private final Consumer<Runnable> work;
        private @Nullable Thread thread;
        private long beginNanos;
        private boolean isLeft;

        Task(Peer peer, String what, Consumer<Runnable> work) {
            this.peer = peer;
            this.what = what;
            this.work = work;
        }

        void run() {
            try {
                work.accept(this::end);
            } catch (RuntimeException | Error e) {
                end();
                Thread self = Thread.currentThread();
                self.getUncaughtExceptionHandler().uncaughtException(self, e);
            } finally {
                synchronized (FairQueue.this) {
                    thread = null;
                }
            }
        }

        private void begin() {
            thread = Thread.currentThread();
            beginNanos = System.nanoTime();
        }

        private Duration time() {
            return Duration.ofNanos(System.nanoTime() - beginNanos);
        }

        /** Returns how long this has to end by itself; 0 if that time is over, and a century if its client is still there. */
        private Duration timeLeft() {
            Duration left = timeToEnd.minus(time());
            return !isLeft || thread == null ? Deadline.FOREVER : left.isNegative() ? Duration.ZERO : left;
        }

        private void end() {
            synchronized (FairQueue.this) {
                if (running.remove(this)) {
                    callThread();
                } else if (abandoned.remove(this)) {
                    mayBeAbandoned.leave(peer);
                }
            }
        }
    }

    /**
     * Has a task run when it is its user's turn.
     *
     * @param what what it does, for people
     * @throws dev.larder.error.LarderException REFUSED if too much waits already, NO_DAEMON after {@link #close}
     */
    public Ticket submit(Peer peer, String what, Runnable work) {
        return submitHolding(peer, what, endTurn -> {
            try {
                work.run();
            } finally {
                endTurn.run();
            }
        });
    }

    /**
     * Has a task run that keeps its turn after its thread: until any thread runs the action that the task receives. If the task fails,
     * its turn ends.
     */
    public synchronized Ticket submitHolding(Peer peer, String what, Consumer<Runnable> work) {
        if (isClosed) {
            throw Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping").remedy(Remedy.START_DAEMON);
        }
        quota.take(peer);
        Task task = new Task(peer, what, work);
        waiting.add(task);
        callThread();
        if (threads == 0) {
            withdraw(task);
            throw Failure.of(ErrorCode.UNEXPECTED, "the system has no thread left for a request")
                    .with("request", what)
                    .remedy("raise the limit of processes of the daemon's user or control group");
        }
        return () -> giveUp(task);
    }

    private synchronized boolean giveUp(Task task) {
        task.isLeft = isAbandoning;
        boolean neverRuns = withdraw(task);
        callThread();
        return neverRuns;
    }

    private synchronized boolean withdraw(Task task) {
        boolean isWaiting = waiting.remove(task);
        if (isWaiting) {
            quota.leave(task.peer);
        }
        return isWaiting;
    }

    /**
     * Sees that a thread takes the next task, if one may run now or after the time of a task that is left: an idle one, a new one, or the first one
     * that has time.
     */
    private void callThread() {
        if (next() == null && timeUntilTurn().isZero()) {
            return;
        } else if (idleThreads > 0) {
            notify(); // it calls another one if more tasks may run
            return;
        } else if (startingThreads > 0) {
            return; // so does one that starts
        }
        threads++;
        startingThreads++;
        boolean isStarted = false;
        try {
            factory.newThread(this::runTasks).start();
            isStarted = true;
        } catch (OutOfMemoryError e) { // the system has no more threads now: one of this queue takes the task later
            LOG.debug("no thread for a request: queue={} threads={}", name, threads - 1);
        } finally {
            threads -= isStarted ? 0 : 1;
            startingThreads -= isStarted ? 0 : 1;
        }
    }

    private void runTasks() {
        synchronized (this) {
            startingThreads--;
        }
        for (Task task = take(); task != null; task = take()) {
            task.run();
        }
    }

    /** Waits for a task and gives it its turn; returns null if this thread is to end. */
    private synchronized @Nullable Task take() {
        Deadline idle = Deadline.after(LONGEST_IDLE);
        while (!isClosed) {
            Task next = next();
            if (next != null) {
                waiting.take(next);
                quota.leave(next.peer);
                next.begin();
                running.add(next);
                callThread();
                return next;
            }
            boolean isNeeded = threads == 1 && !(running.isEmpty() && waiting.isEmpty());
            if (idle.isOver() && !isNeeded) {
                break;
            }
            Duration longest = isNeeded ? LONGEST_IDLE : idle.remaining();
            Duration turn = timeUntilTurn();
            awaitCall((turn.isZero() || turn.compareTo(longest) > 0 ? longest : turn).toMillis() + 1);
        }
        threads--;
        return null;
    }

    @SuppressWarnings("WaitNotInLoop") // take() is the loop
    private void awaitCall(long atMostMillis) {
        idleThreads++;
        try {
            wait(atMostMillis);
        } catch (InterruptedException e) {
            LOG.debug("a thread was interrupted after its task: queue={}", name);
        } finally {
            idleThreads--;
        }
    }

    /** Returns the next task, or null if none may run now. Abandons tasks that are left if that gives one its turn. */
    private @Nullable Task next() {
        Task next = firstThatMayRun();
        while (next == null && abandonOne()) {
            next = firstThatMayRun();
        }
        return next;
    }

    private @Nullable Task firstThatMayRun() {
        return running.size() < turns ? waiting.first(task -> mayRun(task.peer)) : null;
    }

    private boolean abandonOne() {
        if (waiting.isEmpty()) {
            return false;
        }
        for (Task task : running) {
            if (task.timeLeft().isZero() && mayBeAbandoned.tryTake(task.peer)) {
                running.remove(task);
                abandoned.add(task);
                LOG.warn(
                        "a request hangs, and its client has left: queue={} request={} abandoned={}",
                        name,
                        task.what,
                        abandoned.size());
                return true;
            }
        }
        return false;
    }

    /** Returns when a task that is left may lose its turn to one that waits; zero if there is none. */
    private Duration timeUntilTurn() {
        return waiting.isEmpty()
                ? Duration.ZERO
                : running.stream()
                        .map(Task::timeLeft)
                        .filter(left -> !left.isZero() && left.compareTo(timeToEnd) <= 0)
                        .min(Comparator.naturalOrder())
                        .orElse(Duration.ZERO);
    }

    private boolean mayRun(Peer peer) {
        int ofProcess = 0;
        int ofUser = 0;
        int ofMembers = 0;
        for (Task task : running) {
            ofUser += task.peer.uid() == peer.uid() ? 1 : 0;
            ofProcess += task.peer.uid() == peer.uid() && task.peer.pid() == peer.pid() ? 1 : 0;
            ofMembers += task.peer.isOwner() ? 0 : 1;
        }
        boolean isMemberInTurn = ofUser < share && ofMembers < Math.max(1, turns - 1);
        return ofProcess < share && (peer.isOwner() || isMemberInTurn);
    }

    /** Returns the tasks that have been working for so long. */
    public synchronized List<Running> runningFor(Duration time) {
        return described(running, "")
                .filter(task -> task.time().compareTo(time) >= 0)
                .toList();
    }

    /** Returns the tasks that have been working for so long if they have all turns and others wait, else none. */
    public synchronized List<Running> blockingFor(Duration time) {
        return running.size() < turns || waiting.isEmpty() ? List.of() : runningFor(time);
    }

    /** Returns the tasks that hang without a turn, as their clients have left. */
    public synchronized List<Running> abandoned() {
        return described(abandoned, " of a client that has left").toList();
    }

    private Stream<Running> described(Set<Task> tasks, String addition) {
        return tasks.stream().flatMap(task -> {
            Thread thread = task.thread;
            return thread == null
                    ? Stream.empty()
                    : Stream.of(new Running(name, task.what + addition, task.peer, task.time(), thread));
        });
    }

    /** Drops the waiting tasks, and takes no more; running ones end by themselves. */
    public synchronized void close() {
        isClosed = true;
        waiting.clear();
        notifyAll();
    }
}
