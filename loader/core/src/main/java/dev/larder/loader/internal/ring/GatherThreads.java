package dev.larder.loader.internal.ring;

import dev.larder.internal.time.Deadline;
import dev.larder.loader.internal.field.LoaderSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The threads of one loader, from its beginning to its end. */
final class GatherThreads {
    private static final long LOOK_MS = 50;

    private final List<Worker> workers = new ArrayList<>();

    private GatherThreads() {}

    static GatherThreads start(LoaderSource source, Gather gather, Ring ring, int count) {
        GatherThreads threads = new GatherThreads();
        try {
            for (int i = 0; i < count; i++) {
                Worker worker = new Worker(gather, ring, new Workspace(source.fields(), new Stopwatch()), i);
                worker.thread.start();
                threads.workers.add(worker);
            }
        } catch (Throwable e) { // no more threads to be had
            ring.close();
            throw e;
        }
        return threads;
    }

    /** Returns the stopwatch of each thread. */
    List<Stopwatch> stopwatches() {
        return workers.stream()
                .map(worker -> worker.task.workspace().stopwatch())
                .toList();
    }

    /** Waits for threads of a closed ring to end, for those that wait for something less long; returns the names of those left. */
    String join(Duration heldUp, Duration busy) {
        Deadline first = Deadline.after(heldUp);
        Deadline last = Deadline.after(busy);
        for (Worker worker : workers) {
            worker.thread.interrupt(); // a sampler that waits for something must not
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
                    interrupted = true; // and wait on: it is not for long
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** One thread: does tasks of the ring until that closes. */
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
            while (!ring.isClosed()) {
                if (ring.claim(task, this)) {
                    gather.run(task, ring);
                } else if (!spin()) {
                    park();
                }
            }
        }

        private void park() {
            boolean waits = ring.isWaitingForConsumer();
            long start = System.nanoTime();
            LockSupport.park(ring);
            if (waits) {
                task.workspace().stopwatch().add(Stopwatch.Part.WAITING_FOR_CONSUMER, System.nanoTime() - start);
            }
        }

        private boolean isRunningElsewhere() {
            return thread.isAlive() && thread != Thread.currentThread();
        }

        /** Returns whether there was something to do again within the time that parking and waking would take. */
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
