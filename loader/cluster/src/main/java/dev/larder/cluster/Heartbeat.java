package dev.larder.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.function.Supplier;

/** Tells the other sides of links, again and again, that this one lives. */
final class Heartbeat implements AutoCloseable {
    private final Thread thread;

    Heartbeat(Duration pause, Supplier<Collection<NodeLink>> links) {
        this.thread = new Thread(() -> beat(pause, links), "larder-heartbeat");
        thread.setDaemon(true);
        thread.start();
    }

    private static void beat(Duration pause, Supplier<Collection<NodeLink>> links) {
        try {
            while (true) {
                Thread.sleep(pause.toMillis());
                for (NodeLink link : links.get()) {
                    try {
                        link.send(Message.of(Message.Kind.PING));
                    } catch (IOException e) {
                        link.close(); // who receives from it hears that it is gone
                    }
                }
            }
        } catch (InterruptedException e) {
            return; // it is closed
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
