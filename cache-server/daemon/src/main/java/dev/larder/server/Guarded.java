package dev.larder.server;

import java.util.function.Consumer;

/** Runs tasks that are repeated later even after an unexpected failure, such as a full heap, so that their schedule does not end. */
final class Guarded {
    private Guarded() {}

    /** Runs a task and reports its failure. Never throws. */
    static void run(Runnable task, Consumer<Throwable> onFailure) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            report(e, onFailure);
        }
    }

    /** Returns a task that never throws. */
    static Runnable of(Runnable task, Consumer<Throwable> onFailure) {
        return () -> run(task, onFailure);
    }

    static void report(Throwable failure, Consumer<Throwable> onFailure) {
        try {
            onFailure.accept(failure);
        } catch (RuntimeException | Error again) {
            failure.addSuppressed(again); // the report itself failed, such as for lack of memory
        }
    }
}
