package dev.larder.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Sends what the other side of a link is to hear, and that this one lives when there is nothing: in a thread of its own, as a side that
 * does not read makes who sends to it wait.
 */
final class Outbox implements AutoCloseable {
    private final BlockingQueue<Message> waiting = new LinkedBlockingQueue<>();
    private final Thread thread;

    /** Begins; {@code pause} is the time between signs of life. */
    Outbox(Duration pause, NodeLink link) {
        this.thread = new Thread(() -> run(pause, link), "larder-outbox");
        thread.setDaemon(true);
        thread.start();
    }

    /** Sends a message after those before it; waits for nobody. */
    void send(Message message) {
        waiting.add(message);
    }

    private void run(Duration pause, NodeLink link) {
        try {
            while (true) {
                Message next = waiting.poll(pause.toMillis(), TimeUnit.MILLISECONDS);
                link.send(next == null ? new Message.Ping() : next);
            }
        } catch (IOException e) {
            link.close(); // who receives from it hears that it is gone
        } catch (InterruptedException e) {
            return; // it is closed
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
