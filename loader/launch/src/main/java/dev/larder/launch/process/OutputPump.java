package dev.larder.launch.process;

import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Copies the output of a process to its log and its reader, in a thread of its own. It also reads after these fail, so that a full disk
 * does not stop the process.
 */
final class OutputPump implements Runnable, AutoCloseable {
    private static final int BUFFER_LENGTH = 16 << 10;

    private final @Nullable OutputStream log;
    private final Consumer<List<OutputLine>> reader;
    private final LineSplitter lines;
    private @Nullable InputStream source;
    private @Nullable Thread thread;
    private boolean logFails;
    private boolean readerFails;
    private final AtomicLong given = new AtomicLong();
    private final ReentrantLock reading = new ReentrantLock();
    private boolean isDrained;
    private volatile boolean isGiving;
    private volatile @Nullable String trouble;

    private OutputPump(@Nullable OutputStream log, boolean isError, Consumer<List<OutputLine>> reader) {
        this.log = log;
        this.reader = reader;
        this.lines = new LineSplitter(isError, this::give);
    }

    /** Opens the log; {@link #start} follows, or {@link #close}. */
    static OutputPump to(@Nullable Path log, boolean isError, Consumer<List<OutputLine>> reader) throws IOException {
        OutputStream stream =
                log == null ? null : Files.newOutputStream(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return new OutputPump(stream, isError, reader);
    }

    void start(InputStream from, String threadName) {
        source = from;
        thread = new Thread(this, threadName);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        byte[] buffer = new byte[BUFFER_LENGTH];
        try (InputStream in = source) {
            for (int count = next(in, buffer); count >= 0; count = next(in, buffer)) {
                lines.accept(buffer, count);
            }
        } catch (IOException e) {
            note("output: " + Failure.words(e));
        } finally {
            lines.end();
            close();
        }
    }

    /** Reads and keeps the next bytes; −1 at the end, and after another thread has read the rest. */
    private int next(@Nullable InputStream in, byte[] buffer) throws IOException {
        reading.lock();
        try {
            int count = in == null || isDrained ? -1 : in.read(buffer);
            if (count > 0) {
                write(buffer, count);
            }
            return count;
        } finally {
            reading.unlock();
        }
    }

    /** Writes the available output to the log while the reader is stuck; does not wait. */
    private void drain() {
        InputStream in = source;
        if (in == null || !reading.tryLock()) {
            return;
        }
        try {
            byte[] buffer = new byte[BUFFER_LENGTH];
            while (in.available() > 0) {
                write(buffer, in.read(buffer, 0, Math.min(buffer.length, in.available())));
            }
            isDrained = true;
        } catch (IOException e) {
            note("output: " + Failure.words(e));
        } finally {
            reading.unlock();
        }
    }

    private void write(byte[] bytes, int count) {
        if (log == null || logFails) {
            return;
        }
        try {
            log.write(bytes, 0, count);
        } catch (IOException e) {
            logFails = true;
            note("log: " + Failure.words(e));
        }
    }

    private void give(List<OutputLine> batch) {
        if (readerFails) {
            return;
        }
        isGiving = true;
        try {
            reader.accept(batch);
            given.incrementAndGet();
        } catch (RuntimeException e) {
            readerFails = true;
            note("reader: " + e);
        } finally {
            isGiving = false;
        }
    }

    private synchronized void note(String what) {
        trouble = trouble == null ? what : trouble + "; " + what;
    }

    /**
     * Waits for the last line, as long as the reader takes a line within each timeout. If it takes none, the log gets the rest, and {@link
     * #trouble} reports it. If another process holds the stream open, this returns after the timeout.
     */
    void join(long timeoutMs) throws InterruptedException {
        Thread running = thread;
        if (running != null) {
            long before = -1;
            while (running.isAlive() && before != given.get()) {
                before = given.get();
                running.join(Math.max(1, timeoutMs));
            }
            if (running.isAlive() && isGiving) {
                drain();
                note("reader took no line for " + timeoutMs + " ms; the rest is not shown");
            }
        }
    }

    /** Returns the first failure; null if there was none. */
    @Nullable
    String trouble() {
        return trouble;
    }

    @Override
    public void close() {
        if (log != null) {
            try {
                log.close();
            } catch (IOException e) {
                note("log: " + Failure.words(e));
            }
        }
    }
}
