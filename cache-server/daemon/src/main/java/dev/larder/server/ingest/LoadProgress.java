package dev.larder.server.ingest;

import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what a load has done, and tells whoever listens, at most twenty times a second. Thread-safe; a listener hears one
 * report after the other, from changing threads.
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

    /** Begins with looking for files; the name is what listeners are told. */
    public LoadProgress(String name) {
        this.name = name;
    }

    /** Returns what ends the listening. */
    public synchronized Runnable listen(ProgressListener listener) {
        listeners.add(listener);
        listener.progress(snapshot());
        return () -> listeners.remove(listener);
    }

    /** Starts to count from zero what a phase is to do; its first step is told at once. */
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
        tell();
    }

    /** Counts bytes that are copied. */
    public void addBytes(long bytes) {
        bytesDone.addAndGet(bytes);
        tellIfDue();
    }

    /** Counts files that are looked at. */
    public void addFiles(long files) {
        filesDone.addAndGet(files);
        tellIfDue();
    }

    private void tellIfDue() {
        long due = nextNs.get();
        long now = System.nanoTime();
        if (now - due >= 0 && nextNs.compareAndSet(due, now + INTERVAL_NS)) {
            tell();
        }
    }

    /** Counts an array that is copied; tells nobody by itself. */
    public void addFile() {
        filesDone.incrementAndGet();
    }

    long bytesDone() {
        return bytesDone.get();
    }

    Progress snapshot() {
        return new Progress(phase, name, bytesDone.get(), bytesTotal, filesDone.get(), filesTotal, "");
    }

    /** Tells what somebody else has done whom this waits for. */
    synchronized void pass(Progress other) {
        listeners.forEach(listener -> listener.progress(other));
    }

    private synchronized void tell() {
        Progress progress = snapshot();
        listeners.forEach(listener -> listener.progress(progress));
    }
}
