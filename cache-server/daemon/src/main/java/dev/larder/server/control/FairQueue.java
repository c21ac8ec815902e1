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
 * Runs tasks of many users on a few threads. Users take turns, and so do the processes of one user: no task waits for all tasks of another
 * user or process. One process or one member of the group has at most half of the turns at a time, and all members together leave one to
 * the owner. The number of waiting tasks is bounded for each user and in total.
 *
 * <p>A task that is withdrawn before its turn never runs. Thread-safe.
 *
 * <p>Threads start when tasks need them, and run one task after the other. If the system has no thread left, tasks wait for an existing
 * one. So the last thread stays while any task waits or has its turn: no task is left without a thread to run it.
 *
 * <p>A thread in a system call that hangs cannot be ended. If a task of a queue {@link #overFiles} is withdrawn while it runs, has run for
 * a while, and other tasks wait, the queue abandons it: the task loses its turn, and keeps only its thread. The number of abandoned tasks
 * is bounded for each user and in total; further tasks keep their turns.
 */
public final class FairQueue {
    private static final Logger LOG = LoggerFactory.getLogger(FairQueue.class);
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(10);

    /** Most tasks that are withdrawn while they run end by themselves within this time. */
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
     * Creates an empty queue. Its threads start with the tasks, and end when they are idle.
     *
     * @param name the prefix of its threads' names
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

    /** Creates an empty queue for tasks that may hang in a file system. It abandons at most {@code mostAbandoned} of them at a time. */
    public static FairQueue overFiles(String name, int turns, int mostWaiting, int mostAbandoned) {
        return new FairQueue(name, turns, mostWaiting, mostAbandoned, TIME_TO_END, daemonThreads(name));
    }

    /** Returns a factory of daemon threads, which are called {@code name-1}, {@code name-2} and so on. */
    public static ThreadFactory daemonThreads(String name) {
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
     * @param what a description of the task
     * @param peer the client
     * @param time since it began
     */
    public record Running(String queue, String what, Peer peer, Duration time, Thread thread) {}

    /** A submitted task. */
    @FunctionalInterface
    public interface Ticket {
        /** Withdraws the task; returns whether it never runs. A task that runs already may lose its turn. */
        boolean withdraw();
    }

    private final class Task {
        private final Peer peer;
        private final String what;
        private final Consumer<Runnable> work;
        private @Nullable Thread thread;
        private long beginNanos;
        private boolean isWithdrawn;

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

        /** Returns how long this task has left to end by itself: 0 if that time is over, and a century if its client is still connected. */
        private Duration timeLeft() {
            Duration left = timeToEnd.minus(time());
            return !isWithdrawn || thread == null ? Deadline.FOREVER : left.isNegative() ? Duration.ZERO : left;
        }

        private void end() {
            synchronized (FairQueue.this) {
                if (running.remove(this)) {
                    callThread();
                } else if (abandoned.remove(this)) {
                    mayBeAbandoned.release(peer);
                }
            }
        }
    }

    /**
     * Runs a task when it is its user's turn.
     *
     * @param what a description of the task, for people
     * @throws dev.larder.error.LarderException REFUSED if too many tasks wait already, NO_DAEMON after {@link #close}
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
     * Runs a task that keeps its turn after its thread, until any thread runs the action that the task receives. If the task fails, its
     * turn ends.
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
        task.isWithdrawn = isAbandoning;
        boolean neverRuns = withdraw(task);
        callThread();
        return neverRuns;
    }

    private synchronized boolean withdraw(Task task) {
        boolean isWaiting = waiting.remove(task);
        if (isWaiting) {
            quota.release(task.peer);
        }
        return isWaiting;
    }

    /** Finds a thread for the next task, if one may run now or soon: an idle one, a new one, or the first one that becomes free. */
    private void callThread() {
        if (next() == null && timeUntilTurn().isZero()) {
            return;
        } else if (idleThreads > 0) {
            notify(); // it wakes another thread if more tasks may run
            return;
        } else if (startingThreads > 0) {
            return; // the starting thread takes the task
        }
        threads++;
        startingThreads++;
        boolean isStarted = false;
        try {
            factory.newThread(this::runTasks).start();
            isStarted = true;
        } catch (
                OutOfMemoryError e) { // the system has no more threads now: a thread of this queue takes the task later
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

    /** Waits for a task and gives it its turn; returns null if this thread must end. */
    private synchronized @Nullable Task take() {
        Deadline idle = Deadline.after(LONGEST_IDLE);
        while (!isClosed) {
            Task next = next();
            if (next != null) {
                waiting.take(next);
                quota.release(next.peer);
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

    /** Returns the next task, or null if none may run now. Abandons withdrawn tasks if that gives one its turn. */
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

    /** Returns the time until a withdrawn task may lose its turn to a waiting one; zero if there is none. */
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

    /** Returns the tasks that have run for at least this time. */
    public synchronized List<Running> runningFor(Duration time) {
        return described(running, "")
                .filter(task -> task.time().compareTo(time) >= 0)
                .toList();
    }

    /** Returns the tasks that have run for at least this time, if all turns are taken and other tasks wait; else none. */
    public synchronized List<Running> blockingFor(Duration time) {
        return running.size() < turns || waiting.isEmpty() ? List.of() : runningFor(time);
    }

    /** Returns the tasks that hang without a turn, because their clients have left. */
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

    /** Drops the waiting tasks and accepts no more. Running ones end by themselves. */
    public synchronized void close() {
        isClosed = true;
        waiting.clear();
        notifyAll();
    }
}
