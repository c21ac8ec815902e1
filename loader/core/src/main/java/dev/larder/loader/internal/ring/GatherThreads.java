package dev.larder.loader.internal.ring;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.internal.field.LoaderSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The gather threads of one loader. */
final class GatherThreads {
    private static final long LOOK_MS = 50;

    private final List<Worker> workers = new ArrayList<>();

    private GatherThreads() {}

    static GatherThreads start(
            LoaderSource source, Gather gather, Ring ring, LoaderCounters counters, int count) {
        GatherThreads threads = new GatherThreads();
        try {
            for (int i = 0; i < count; i++) {
                Stopwatch stopwatch = counters.newStopwatch(LoaderDescriptor.ROLE_GATHERER);
                Worker worker = new Worker(gather, ring, new Workspace(source.fields(), stopwatch), i);
                worker.thread.start();
                threads.workers.add(worker);
            }
        } catch (Throwable e) { // no more threads
            ring.close();
            throw e;
        }
        return threads;
    }

    /** Waits for the end of the threads of a closed ring, less long for blocked ones; returns the names of running threads. */
    String join(Duration heldUp, Duration busy) {
        Deadline first = Deadline.after(heldUp);
        Deadline last = Deadline.after(busy);
        for (Worker worker : workers) {
            worker.thread.interrupt(); // ends the wait of a sampler
        }
        joinUntil(first, worker -> true);
        joinUntil(last, worker -> worker.thread.getState() == Thread.State.RUNNABLE);
        return workers.stream()
                .filter(Worker::isRunningElsewhere)
                .map(worker -> worker.thread.getName())
                .collect(Collectors.joining(","));
    }

    private void joinUntil(Deadline deadline, Predicate<Worker> isWorthWaiting) {
        boolean interrupted = false;
        for (Worker worker : workers) {
            while (worker.isRunningElsewhere() && !deadline.isOver() && isWorthWaiting.test(worker)) {
                try {
                    worker.thread.join(Math.min(deadline.remainingMillis(), LOOK_MS));
                } catch (InterruptedException e) {
                    interrupted = true; // and wait on, because the wait is short
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs tasks of the ring until it closes. */
    static final class Worker implements Runnable {
        private final Gather gather;
        private final Ring ring;
        private final Thread thread;
        private final GatherTask task;

        /** Written under the ring's lock. */
        volatile boolean idle;

        Worker(Gather gather, Ring ring, Workspace workspace, int number) {
            this.gather = gather;
            this.ring = ring;
            this.task = new GatherTask(workspace);
            this.thread = new Thread(this, "larder-gather-" + number);
            thread.setDaemon(true);
        }

        @Override
        public void run() {
            task.workspace().stopwatch().ofThisThread();
            while (!ring.isClosed()) {
                if (ring.claim(task, this)) {
                    gather.run(task, ring);
                } else if (!spin()) {
                    park();
                }
            }
        }

        private void park() {
            if (ring.isWaitingForConsumer()) {
                task.workspace().stopwatch().begin(WorkPart.WAITING_FOR_CONSUMER);
            }
            LockSupport.park(ring);
            task.workspace().stopwatch().end();
        }

        private boolean isRunningElsewhere() {
            return thread.isAlive() && thread != Thread.currentThread();
        }

        /** Spins for about the time of parking and waking; returns whether there is work. */
        private boolean spin() {
            for (int i = 0; idle && i < Ring.SPINS; i++) {
                Thread.onSpinWait();
            }
            return !idle;
        }

        void wake() {
            LockSupport.unpark(thread);
        }
    }
}
