package dev.larder.loader.internal.ring;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.internal.field.LoaderSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** The gather threads of one loader. */
final class GatherThreads {
    private final List<Worker> workers = new ArrayList<>();

    /** The threads to wait for at the end: those of the workers, and the read-ahead thread, if any. */
    private final List<Thread> threads = new ArrayList<>();

    private GatherThreads() {}

    static GatherThreads start(LoaderSource source, Gather gather, Ring ring, LoaderCounters counters, int count) {
        GatherThreads threads = new GatherThreads();
        ReadAhead ahead = null;
        try {
            ahead = ReadAhead.start(source, ring);
            if (ahead != null) {
                gather.readAhead(ahead);
                threads.threads.add(ahead.thread());
            }
            for (int i = 0; i < count; i++) {
                Stopwatch stopwatch = counters.newStopwatch(LoaderDescriptor.ROLE_GATHERER);
                Worker worker = new Worker(gather, ring, new Workspace(source.fields(), stopwatch), i);
                worker.thread.start();
                threads.workers.add(worker);
                threads.threads.add(worker.thread);
            }
        } catch (Throwable e) { // no more threads
            ring.close();
            if (ahead != null) {
                ahead.end();
            }
            throw e;
        }
        return threads;
    }

    /** Waits for the end of the threads of a closed ring; returns the names of those that still run after that time. */
    String join(Duration timeout) {
        Deadline deadline = Deadline.after(timeout);
        threads.forEach(Thread::interrupt); // ends the wait of a sampler
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (isRunningElsewhere(thread) && !deadline.isOver()) {
                try {
                    thread.join(deadline.remainingMillis());
                } catch (InterruptedException e) {
                    interrupted = true; // and wait on, because the wait is short
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return threads.stream()
                .filter(GatherThreads::isRunningElsewhere)
                .map(Thread::getName)
                .collect(Collectors.joining(","));
    }

    private static boolean isRunningElsewhere(Thread thread) {
        return thread.isAlive() && thread != Thread.currentThread();
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
