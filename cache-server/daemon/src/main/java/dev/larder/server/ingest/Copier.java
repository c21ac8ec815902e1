package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.space.MemoryNodes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the arrays of plans from extents of files to segments of new versions. Several threads share small segments and large ones.
 * The first failure ends the copy. After {@link #close}, no thread writes any more.
 */
final class Copier implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Copier.class);
    private static final int COPY_END_SECONDS = 5;
    private static final int MOST_NAMED = 10;

    private final LoadProgress progress;
    private final List<IncomingVersion> versions = new ArrayList<>();
    private final List<SegmentCopy> segments = new ArrayList<>();
    private final Deque<SegmentGroup> groups = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicInteger alive = new AtomicInteger();
    private final int workers;
    private volatile CountDownLatch quiet = new CountDownLatch(0);

    Copier(int workers, LoadProgress progress) {
        this.workers = Math.max(1, workers);
        this.progress = progress;
    }

    /** Adds the segments of a version. */
    void add(IncomingVersion version, LoadPlan plan) {
        versions.add(version);
        List<SegmentCopy> added = plan.segments().stream()
                .map(segment -> new SegmentCopy(version, segment, progress))
                .toList();
        segments.addAll(added);
        groups.addAll(SegmentGroup.of(added, workers));
    }

    /** Starts to write everything that was added. */
    void start() {
        long rounds = groups.stream().mapToLong(SegmentGroup::roundCount).sum();
        int count = (int) Math.max(1, Math.min(workers, rounds));
        alive.set(count);
        quiet = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
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

    /** Waits until everything is written. Throws the first failure, with those of the other threads. */
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

    private void work() {
        try {
            MemoryNodes.interleaveThisThread();
            for (List<SegmentBatch> next = next(); !next.isEmpty(); next = next()) {
                ExtentReader.copy(next, progress);
            }
        } catch (Throwable e) { // the load must end, however a thread dies
            fail(e);
        } finally {
            endWorker();
        }
    }

    private List<SegmentBatch> next() {
        synchronized (groups) {
            while (!groups.isEmpty() && !hasFailed()) {
                List<SegmentBatch> batches = groups.element().next();
                if (!batches.isEmpty()) {
                    return batches;
                }
                groups.remove();
            }
            return List.of();
        }
    }

    private void fail(Throwable failure) {
        failures.add(failure);
        ended.countDown();
    }

    private boolean hasFailed() {
        return !failures.isEmpty();
    }

    /** The last thread to end closes the segments, even if no caller waits for it any more. */
    private void endWorker() {
        boolean isLast = alive.decrementAndGet() == 0;
        try {
            if (isLast) {
                segments.forEach(SegmentCopy::close);
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

    /** Returns one failure for all. A cancellation counts only if there is no other failure. */
    private RuntimeException failure() {
        List<Throwable> known = List.copyOf(failures);
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
                .toList(); // threads that read the same file fail alike
        if (bad.size() > 1 && bad.get(0) == first) {
            return all(bad);
        }
        known.stream().filter(failure -> failure != first).forEach(first::addSuppressed);
        return first instanceof RuntimeException exception ? exception : died(first);
    }

    private static RuntimeException all(List<LarderException> bad) {
        StringBuilder lines = new StringBuilder();
        bad.stream().limit(MOST_NAMED).forEach(failure -> lines.append("\n  ").append(failure.getMessage()));
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

    /** Waits until no thread writes any more, so that files that the caller removes next stay removed. */
    @Override
    public void close() {
        if (ended.getCount() > 0 || hasFailed()) {
            endThreads();
        }
    }
}
