package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.server.source.Refusal;
import dev.larder.server.store.IncomingVersion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
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
    private final int workers;
    private final List<IncomingVersion> versions = new ArrayList<>();
    private final List<SegmentCopy> segments = new ArrayList<>();
    private final Deque<SegmentGroup> groups = new ArrayDeque<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private long stretchesAtMost;
    private final ExecutorService threads = Executors.newCachedThreadPool(Copier::newThread);

    Copier(int workers, LoadProgress progress) {
        this.workers = Math.max(1, workers);
        this.progress = progress;
    }

    private static Thread newThread(Runnable work) {
        Thread thread = new Thread(work, "larder-ingest");
        thread.setDaemon(true);
        return thread;
    }

    /** Adds the segments of a version. */
    void add(IncomingVersion version, LoadPlan plan) {
        versions.add(version);
        for (LoadPlan.Segment segment : plan.segments()) {
            stretchesAtMost += segment.byteSize() / SegmentGroup.STRETCH_BYTES
                    + segment.arrays().size();
        }
        List<SegmentCopy> added = plan.segments().stream()
                .map(segment -> new SegmentCopy(version, segment, progress))
                .toList();
        segments.addAll(added);
        groups.addAll(SegmentGroup.of(added, workers));
    }

    /** Starts to write everything that was added. */
    void start() {
        List<CompletableFuture<Void>> copies = new ArrayList<>();
        try {
            for (long i = Math.max(1, Math.min(workers, stretchesAtMost)); i > 0; i--) {
                copies.add(CompletableFuture.runAsync(this::work, threads));
            }
        } catch (OutOfMemoryError e) { // the system has no more threads
            fail(e);
        }
        threads.shutdown();
        var unused = CompletableFuture.allOf(copies.toArray(CompletableFuture[]::new))
                .thenRun(this::end);
    }

    private void work() {
        try {
            for (List<SegmentStretch> next = next(); !next.isEmpty(); next = next()) {
                ExtentReader.copy(next, progress);
            }
        } catch (Throwable e) { // the load must end, however a thread dies
            fail(e);
        }
    }

    private List<SegmentStretch> next() {
        synchronized (groups) {
            while (!groups.isEmpty() && failures.isEmpty()) {
                List<SegmentStretch> stretches = groups.element().next();
                if (!stretches.isEmpty()) {
                    return stretches;
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

    /** Closes the segments after the last thread, even if no caller waits for it any more. */
    private void end() {
        for (SegmentCopy segment : segments) {
            try {
                segment.close();
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }
        ended.countDown();
    }

    /** Waits until everything is written. Throws the first failure, with those of the other threads. */
    void await() {
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while copying");
        }
        if (!failures.isEmpty()) {
            close();
            throw failure();
        }
    }

    /** Returns one failure for all. A cancellation counts only if there is no other failure. */
    private RuntimeException failure() {
        Throwable first = failures.stream()
                .filter(failure -> !(failure instanceof CancellationException))
                .findFirst()
                .orElse(failures.get(0));
        Map<String, LarderException> bad = new LinkedHashMap<>(); // threads that read the same file fail alike
        for (Throwable failure : failures) {
            if (failure instanceof LarderException refusal && refusal.code() == ErrorCode.BAD_INPUT) {
                bad.putIfAbsent(refusal.getMessage(), refusal);
            }
        }
        if (bad.size() > 1 && bad.containsValue(first)) {
            String messages = bad.values().stream()
                    .limit(MOST_NAMED)
                    .map(refusal -> "\n  " + Refusal.entry(refusal))
                    .collect(Collectors.joining());
            return Failure.of(ErrorCode.BAD_INPUT, "cannot copy sources")
                    .with("badFiles", bad.size() + messages)
                    .cause(first)
                    .exception();
        }
        failures.stream().filter(failure -> failure != first).forEach(first::addSuppressed);
        return first instanceof RuntimeException exception ? exception : died(first);
    }

    private static RuntimeException died(Throwable reason) {
        return Failure.of(ErrorCode.UNEXPECTED, "a copying thread died")
                .with("reason", reason)
                .cause(reason)
                .remedy("check the daemon's log; if it contains OutOfMemoryError, restart with a larger heap:"
                        + " LARDER_DAEMON_HEAP=SIZE");
    }

    /** Ends the copy, and waits until no thread writes any more, so that files that the caller removes next stay removed. */
    @Override
    public void close() {
        if (ended.getCount() == 0 && failures.isEmpty()) {
            return;
        }
        versions.forEach(IncomingVersion::cancel);
        threads.shutdownNow();
        try {
            if (!threads.awaitTermination(COPY_END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a copy does not end because its source hangs: waitedSeconds={}", COPY_END_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
