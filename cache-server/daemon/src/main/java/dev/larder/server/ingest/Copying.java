package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.server.source.Refusal;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.space.MemoryNodes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fills the segments of plans with several threads, over files and within large ones. The first failure ends all of it. Whoever
 * made it closes it; then no thread writes any more.
 */
final class Copying implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Copying.class);
    private static final int COPY_END_SECONDS = 5;
    private static final int MOST_NAMED = 10;

    private final LoadProgress progress;
    private final List<IncomingVersion> versions = new ArrayList<>();
    private final List<SegmentGroup> groups = new ArrayList<>();
    private final Deque<SegmentGroup> waiting = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final int workers;
    private volatile CountDownLatch quiet = new CountDownLatch(0);
    private int alive;

    Copying(int workers, LoadProgress progress) {
        this.workers = Math.max(1, workers);
        this.progress = progress;
    }

    /** Adds the segments of a version to what is to be written. */
    void add(IncomingVersion version, LoadPlan plan) {
        versions.add(version);
        List<SegmentCopy> segments = plan.segments().stream()
                .map(segment -> new SegmentCopy(version, segment, progress))
                .toList();
        groups.addAll(SegmentGroup.of(segments, workers, progress));
    }

    /** Starts to write everything that was added. */
    void start() {
        waiting.addAll(groups);
        alive = threadCount();
        quiet = new CountDownLatch(alive);
        for (int i = alive; i > 0; i--) {
            Thread thread = new Thread(this::work, "larder-ingest");
            thread.setDaemon(true);
            threads.add(thread);
        }
        for (Thread thread : threads) {
            try {
                thread.start();
            } catch (OutOfMemoryError e) { // the system has no more threads for us
                fail(e);
                endWorker();
            }
        }
    }

    /** Waits until everything is written; the first failure ends it all, and is thrown with those that came beside it. */
    void await() {
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while copying");
        }
        if (hasFailed()) {
            endThreads();
            throw failure();
        }
    }

    private int threadCount() {
        long batches = 0;
        for (SegmentGroup group : groups) {
            batches += group.batchesAtMost();
        }
        return (int) Math.max(1, Math.min(workers, batches));
    }

    private void work() {
        try {
            MemoryNodes.interleaveThisThread();
            while (copyNext()) {
                // until there is nothing left
            }
        } catch (Throwable e) { // whatever a thread dies of, its load must end
            fail(e);
        } finally {
            endWorker();
        }
    }

    private boolean copyNext() {
        SegmentGroup group;
        List<SegmentCopy.Batch> batches = List.of();
        synchronized (waiting) {
            group = waiting.peek();
            while (group != null && !hasFailed()) {
                batches = group.next();
                if (!batches.isEmpty()) {
                    break;
                }
                waiting.remove();
                group = waiting.peek();
            }
        }
        if (group == null || batches.isEmpty()) {
            return false;
        }
        group.copy(batches);
        return true;
    }

    private void fail(Throwable failure) {
        synchronized (failures) {
            failures.add(failure);
        }
        ended.countDown();
    }

    private boolean hasFailed() {
        synchronized (failures) {
            return !failures.isEmpty();
        }
    }

    /** The last thread to end gives up what the segments hold, even where nobody waits for it any more. */
    private void endWorker() {
        boolean isLast;
        synchronized (waiting) {
            alive--;
            isLast = alive == 0;
        }
        try {
            if (isLast) {
                groups.forEach(SegmentGroup::close);
            }
        } catch (RuntimeException | Error e) {
            fail(e);
        } finally {
            if (isLast) {
                ended.countDown();
            }
            quiet.countDown();
        }
    }

    /** Makes one failure of all that are known; being cancelled is no failure beside another. */
    private RuntimeException failure() {
        List<Throwable> known;
        synchronized (failures) {
            known = new ArrayList<>(failures);
        }
        Throwable first = known.stream()
                .filter(failure -> !(failure instanceof CancellationException))
                .findFirst()
                .orElse(known.get(0));
        List<LarderException> bad = known.stream()
                .filter(failure -> failure instanceof LarderException refusal && refusal.code() == ErrorCode.BAD_INPUT)
                .map(LarderException.class::cast)
                .collect(Collectors.toMap(
                        LarderException::getMessage, one -> one, (one, same) -> one, LinkedHashMap::new))
                .values()
                .stream()
                .toList(); // threads that read one file say the same of it
        if (bad.size() > 1 && bad.get(0) == first) {
            return all(bad);
        }
        known.stream().filter(failure -> failure != first).forEach(first::addSuppressed);
        return first instanceof RuntimeException exception ? exception : died(first);
    }

    private static RuntimeException all(List<LarderException> bad) {
        StringBuilder lines = new StringBuilder();
        bad.stream().limit(MOST_NAMED).forEach(failure -> lines.append("\n  ").append(Refusal.entry(failure)));
        return Failure.of(ErrorCode.BAD_INPUT, "cannot copy sources")
                .with("badFiles", bad.size() + lines.toString())
                .cause(bad.get(0))
                .exception();
    }

    private static RuntimeException died(Throwable reason) {
        return Failure.of(ErrorCode.UNEXPECTED, "a copying thread died")
                .with("reason", reason)
                .cause(reason)
                .remedy("check the daemon's log; if it says OutOfMemoryError, restart with a larger heap:"
                        + " LARDER_DAEMON_HEAP=SIZE");
    }

    private void endThreads() {
        versions.forEach(IncomingVersion::cancel);
        threads.forEach(Thread::interrupt);
        try {
            if (!threads.isEmpty() && !quiet.await(COPY_END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a copy does not end, as its source hangs: waitedSeconds={}", COPY_END_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until no thread writes any more, so that what is removed next stays removed. */
    @Override
    public void close() {
        if (ended.getCount() > 0 || hasFailed()) {
            endThreads();
        }
    }
}
