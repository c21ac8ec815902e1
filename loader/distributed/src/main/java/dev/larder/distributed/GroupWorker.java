package dev.larder.distributed;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** The thread that runs what a group was asked for while its caller goes on. There is none before the first such call. */
final class GroupWorker {
    private final String name;
    private final Queue<Runnable> calls = new ArrayDeque<>();
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
        notifyAll();
    }

    private void runAll() {
        try {
            for (Runnable call = next(); call != null; call = next()) {
                call.run();
            }
        } catch (InterruptedException e) { // nobody does that but by mistake
            Thread.currentThread().interrupt();
        }
    }

    /** Null after the last one. */
    private synchronized @Nullable Runnable next() throws InterruptedException {
        while (open && calls.isEmpty()) {
            wait();
        }
        return calls.poll();
    }

    /** Lets what was submitted run to its end, which fails soon where the group has stopped; waits no longer than this. */
    void close(Duration patience) {
        @Nullable Thread running;
        synchronized (this) {
            open = false;
            running = thread;
            notifyAll();
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
