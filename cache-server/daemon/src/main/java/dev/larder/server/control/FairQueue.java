package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
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
 */
public final class FairQueue {
    private static final Logger LOG = LoggerFactory.getLogger(FairQueue.class);
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(10);

    private final String name;
    private final int turns;
    private final int share;
    private final UserQuota quota;
    private final ThreadFactory factory;

    /** The waiting tasks, by user and process; the first of each is the next to have its turn. */
    private final Map<Integer, Map<Long, Set<Task>>> waiting = new LinkedHashMap<>();

    private final Set<Task> running = new LinkedHashSet<>();
    private int threads;
    private int idleThreads;
    private boolean isClosed;

    /**
     * Creates an empty queue; its threads start with the tasks, and end when they are idle.
     *
     * @param name how its threads are called
     * @param turns how many tasks run at a time
     * @param mostWaiting how many tasks may wait; {@link UserQuota} gives each user a share
     */
    public FairQueue(String name, int turns, int mostWaiting) {
        this(name, turns, mostWaiting, daemonThreads(name));
    }

    FairQueue(String name, int turns, int mostWaiting, ThreadFactory factory) {
        this.name = name;
        this.turns = turns;
        this.share = Math.max(1, turns / 2);
        this.quota = new UserQuota(
                "too many requests are waiting", mostWaiting, "try again when some of them have been answered");
        this.factory = factory;
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
        /** Withdraws the task; returns whether it never runs. */
        boolean withdraw();
    }

    private final class Task {
        private final Peer peer;
        private final String what;
        private final Consumer<Runnable> work;
        private @Nullable Thread thread;
        private long beginNanos;

        Task(Peer peer, String what, Consumer<Runnable> work) {
            this.peer = peer;
            this.what = what;
            this.work = work;
        }

        void run() {
            setThread(Thread.currentThread());
            try {
                work.accept(this::end);
            } catch (RuntimeException | Error e) {
                end();
                Thread self = Thread.currentThread();
                self.getUncaughtExceptionHandler().uncaughtException(self, e);
            } finally {
                setThread(null);
            }
        }

        private void setThread(@Nullable Thread now) {
            synchronized (FairQueue.this) {
                thread = now;
                beginNanos = System.nanoTime();
            }
        }

        private void end() {
            synchronized (FairQueue.this) {
                if (running.remove(this)) {
                    callThread();
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
        add(task);
        callThread();
        if (threads == 0) {
            withdraw(task);
            throw Failure.of(ErrorCode.UNEXPECTED, "the system has no thread left for a request")
                    .with("request", what)
                    .remedy("raise the limit of processes of the daemon's user or control group");
        }
        return () -> withdraw(task);
    }

    private void add(Task task) {
        waiting.computeIfAbsent(task.peer.uid(), uid -> new LinkedHashMap<>())
                .computeIfAbsent(task.peer.pid(), pid -> new LinkedHashSet<>())
                .add(task);
    }

    private synchronized boolean withdraw(Task task) {
        Map<Long, Set<Task>> ofUser = waiting.getOrDefault(task.peer.uid(), Map.of());
        Set<Task> ofProcess = ofUser.getOrDefault(task.peer.pid(), Set.of());
        boolean isWaiting = ofProcess.contains(task);
        if (isWaiting) {
            ofProcess.remove(task);
            quota.leave(task.peer);
            if (ofProcess.isEmpty()) {
                ofUser.remove(task.peer.pid());
            }
            if (ofUser.isEmpty()) {
                waiting.remove(task.peer.uid());
            }
        }
        return isWaiting;
    }

    /** Sees that a thread takes the next task, if one may run now: an idle one, a new one, or the first one that has time. */
    private void callThread() {
        if (next() == null) {
            return;
        } else if (idleThreads > 0) {
            notify(); // it calls another one if more tasks may run
            return;
        }
        threads++;
        boolean isStarted = false;
        try {
            factory.newThread(this::runTasks).start();
            isStarted = true;
        } catch (OutOfMemoryError e) { // the system has no more threads now: one of this queue takes the task later
            LOG.debug("no thread for a request: queue={} threads={}", name, threads - 1);
        } finally {
            threads -= isStarted ? 0 : 1;
        }
    }

    private void runTasks() {
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
                withdraw(next);
                running.add(next);
                putLast(next.peer);
                callThread();
                return next;
            }
            boolean isNeeded = threads == 1 && !(running.isEmpty() && waiting.isEmpty());
            if (idle.isOver() && !isNeeded) {
                break;
            }
            awaitCall(isNeeded ? LONGEST_IDLE.toMillis() : idle.remainingMillis());
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

    /** Returns the next task, or null if none may run now. */
    private @Nullable Task next() {
        if (running.size() < turns) {
            for (Map<Long, Set<Task>> ofUser : waiting.values()) {
                for (Set<Task> ofProcess : ofUser.values()) {
                    Task first = ofProcess.iterator().next();
                    if (mayRun(first.peer)) {
                        return first;
                    }
                }
            }
        }
        return null;
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

    /** The process that has had its turn is the last of its user's now, and its user the last of all. */
    private void putLast(Peer peer) {
        Map<Long, Set<Task>> ofUser = waiting.remove(peer.uid());
        if (ofUser != null) {
            Set<Task> ofProcess = ofUser.remove(peer.pid());
            if (ofProcess != null) {
                ofUser.put(peer.pid(), ofProcess);
            }
            waiting.put(peer.uid(), ofUser);
        }
    }

    /** Returns the tasks that have been working for so long. */
    public synchronized List<Running> runningFor(Duration time) {
        List<Running> found = new ArrayList<>();
        for (Task task : running) {
            Duration own = Duration.ofNanos(System.nanoTime() - task.beginNanos);
            Thread thread = task.thread;
            if (thread != null && own.compareTo(time) >= 0) {
                found.add(new Running(name, task.what, task.peer, own, thread));
            }
        }
        return found;
    }

    /** Drops the waiting tasks, and takes no more; running ones end by themselves. */
    public synchronized void close() {
        isClosed = true;
        waiting.clear();
        notifyAll();
    }
}
