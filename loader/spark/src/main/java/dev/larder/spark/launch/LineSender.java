package dev.larder.spark.launch;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Sends lines to the driver in its own thread, so that ranks never wait for the network. Drops and counts lines if its queue is full. */
final class LineSender implements AutoCloseable {
    private static final int MOST_LINES = 20_000;
    private static final int MOST_AT_ONCE = 500;
    private static final long PAUSE_MS = 50;
    private static final long LAST_LINES_MS = 3000;

    private final String launch;
    private final BlockingQueue<LinesPlugin.Line> waiting = new ArrayBlockingQueue<>(MOST_LINES);
    private final AtomicLong lost = new AtomicLong();
    private final Thread thread;
    private volatile boolean isClosing;

    LineSender(String launch) {
        this.launch = launch;
        this.thread = new Thread(this::run, "larder-lines");
        thread.setDaemon(true);
        thread.start();
    }

    void send(String text, boolean isError) {
        if (!waiting.offer(new LinesPlugin.Line(text, isError))) {
            lost.incrementAndGet();
        }
    }

    private void run() {
        List<LinesPlugin.Line> lines = new ArrayList<>();
        try {
            while (!isClosing || !waiting.isEmpty()) {
                LinesPlugin.Line first = waiting.poll(PAUSE_MS, TimeUnit.MILLISECONDS);
                if (first == null) {
                    continue;
                }
                lines.add(first);
                waiting.drainTo(lines, MOST_AT_ONCE);
                int count = lines.size();
                long left = lost.getAndSet(0);
                if (left > 0) {
                    lines.add(new LinesPlugin.Line(
                            "larder: " + left + " lines are missing here; the executor's output contains them", true));
                }
                if (!LinesPlugin.send(launch, lines)) {
                    lost.addAndGet(count + left);
                    if (isClosing) {
                        return;
                    }
                }
                lines.clear();
            }
        } catch (InterruptedException e) {
            return; // close() waited long enough for the last lines
        }
    }

    /** Waits until the last line is sent, at most 3 s. */
    @Override
    public void close() {
        isClosing = true;
        try {
            thread.join(LAST_LINES_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
    }
}
