package dev.larder.distributed.internal.meeting;

import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Sends messages in a thread of its own: a side that does not read delays its own messages only. */
public final class Outbox<M> implements AutoCloseable {
    private static final long LOOK_MS = 20;

    private final Link<M> link;
    private final BlockingQueue<M> waiting = new LinkedBlockingQueue<>();
    private final Thread thread;
    private int unsent;

    /** Sends messages only. */
    Outbox(Link<M> link) {
        this(link, Deadline.FOREVER, null);
    }

    /** Sends messages, and a sign of life after each pause without one. */
    public Outbox(Link<M> link, Duration pause, @Nullable M sign) {
        this.link = link;
        this.thread = new Thread(() -> run(pause.toMillis(), sign), "larder-outbox");
        thread.setDaemon(true);
        thread.start();
    }

    /** Sends a message after those before it, and does not wait. */
    public synchronized void send(M message) {
        unsent++;
        waiting.add(message);
    }

    private void run(long pauseMillis, @Nullable M sign) {
        try {
            while (true) {
                M next = waiting.poll(pauseMillis, TimeUnit.MILLISECONDS);
                if (next != null) {
                    link.send(next);
                    countSent();
                } else if (sign != null) {
                    link.send(sign);
                }
            }
        } catch (IOException | RuntimeException e) { // such as a message that is too long
            link.close(); // the thread that receives reports it
        } catch (InterruptedException e) {
            return; // it is closed
        }
    }

    private synchronized void countSent() {
        unsent--;
        notifyAll();
    }

    /** Waits until the kernel has taken all messages; false if it has not in time, or the link has ended. */
    synchronized boolean flush(Deadline deadline) {
        try {
            while (unsent > 0 && thread.isAlive() && !deadline.isOver()) {
                wait(Math.min(LOOK_MS, deadline.remainingMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return isEmpty();
    }

    /** Returns whether the kernel has taken all messages. */
    synchronized boolean isEmpty() {
        return unsent == 0;
    }

    /** Returns whether nothing is left to do: all messages are sent, or the link has ended. */
    boolean isDone() {
        return isEmpty() || !thread.isAlive();
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
