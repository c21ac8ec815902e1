package dev.larder.distributed;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** The thread that runs what a group was asked for while its caller goes on. There is none before the first such call. */
final class GroupWorker {
    private static final Runnable END = () -> {};

    private final String name;
    private final BlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
    private @Nullable Thread thread;
    private boolean open = true;

    GroupWorker(String name) {
        this.name = name;
    }

    synchronized void submit(Runnable call) {
        if (!open) {
            throw new IllegalStateException("process group is closed: worker=" + name);
        }
        if (thread == null) {
            thread = new Thread(this::runAll, name);
            thread.setDaemon(true);
            thread.start();
        }
        calls.add(call);
    }

    private void runAll() {
        try {
            for (Runnable call = calls.take(); call != END; call = calls.take()) {
                call.run();
            }
        } catch (InterruptedException e) { // nobody does that but by mistake
            Thread.currentThread().interrupt();
        }
    }

    /** Lets what was submitted run to its end, which fails soon where the group has stopped; waits no longer than this. */
    void close(Duration patience) {
        @Nullable Thread running;
        synchronized (this) {
            open = false;
            running = thread;
            calls.add(END);
        }
        if (running == null || running == Thread.currentThread()) {
            return;
        }
        try {
            running.join(patience.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
