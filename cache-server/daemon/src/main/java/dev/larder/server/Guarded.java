package dev.larder.server;

import java.util.function.Consumer;

/** Runs what has to be tried again later whatever it fails of: a full heap for a moment must not be the end of a schedule. */
final class Guarded {
    private Guarded() {}

    /** Runs a task and tells how it failed; throws nothing, not even where telling fails. */
    static void run(Runnable task, Consumer<Throwable> onFailure) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            tell(e, onFailure);
        }
    }

    /** Returns a task that never throws. */
    static Runnable of(Runnable task, Consumer<Throwable> onFailure) {
        return () -> run(task, onFailure);
    }

    static void tell(Throwable failure, Consumer<Throwable> onFailure) {
        try {
            onFailure.accept(failure);
        } catch (RuntimeException | Error again) {
            failure.addSuppressed(again); // no room even to note it
        }
    }
}
