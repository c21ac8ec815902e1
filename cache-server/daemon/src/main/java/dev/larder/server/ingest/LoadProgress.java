package dev.larder.server.ingest;

import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the progress of a load, and reports it to listeners at most twenty times a second. Thread-safe. A listener receives one report at
 * a time, on changing threads.
 */
public final class LoadProgress {
    private static final long INTERVAL_NS = 50_000_000;

    private final String name;
    private final List<ProgressListener> listeners = new CopyOnWriteArrayList<>();
    private final AtomicLong bytesDone = new AtomicLong();
    private final AtomicLong filesDone = new AtomicLong();
    private final AtomicLong nextNs = new AtomicLong(System.nanoTime());
    private volatile Phase phase = Phase.SCANNING;
    private volatile long bytesTotal = Progress.UNKNOWN;
    private volatile long filesTotal = Progress.UNKNOWN;

    /**
     * Begins with scanning.
     *
     * @param name the name in the reports
     */
    public LoadProgress(String name) {
        this.name = name;
    }

    /** Adds a listener. The returned action removes it. */
    public synchronized Runnable listen(ProgressListener listener) {
        listeners.add(listener);
        listener.progress(snapshot());
        return () -> listeners.remove(listener);
    }

    /** Starts a phase with its totals, and counts from zero. Its first step is reported immediately. */
    public void begin(Phase next, long bytes, long files) {
        synchronized (this) {
            bytesDone.set(0);
            filesDone.set(0);
            bytesTotal = bytes;
            filesTotal = files;
        }
        enter(next);
        nextNs.set(System.nanoTime());
    }

    void enter(Phase next) {
        phase = next;
        report();
    }

    /** Counts copied bytes. */
    public void addBytes(long bytes) {
        bytesDone.addAndGet(bytes);
        reportIfDue();
    }

    /** Counts scanned files. */
    public void addFiles(long files) {
        filesDone.addAndGet(files);
        reportIfDue();
    }

    private void reportIfDue() {
        long due = nextNs.get();
        long now = System.nanoTime();
        if (now - due >= 0 && nextNs.compareAndSet(due, now + INTERVAL_NS)) {
            report();
        }
    }

    /** Counts a copied array, without a report. */
    public void addFile() {
        filesDone.incrementAndGet();
    }

    Progress snapshot() {
        return new Progress(phase, name, bytesDone.get(), bytesTotal, filesDone.get(), filesTotal, "");
    }

    /** Forwards the progress of the job that this load waits for. */
    synchronized void forward(Progress other) {
        listeners.forEach(listener -> listener.progress(other));
    }

    private synchronized void report() {
        Progress progress = snapshot();
        listeners.forEach(listener -> listener.progress(progress));
    }
}
