package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import org.jspecify.annotations.Nullable;

/** Explains failures that come from a heap that is too small, and names the setting that helps. */
public final class HeapShortage {
    private static final long MIB = 1 << 20;

    private HeapShortage() {}

    /** Returns a failure with a remedy if the heap was too small, otherwise the failure itself. */
    public static Throwable explained(Throwable failure) {
        OutOfMemoryError error = find(failure);
        if (error == null) {
            return failure;
        }
        long heapMib = Runtime.getRuntime().maxMemory() / MIB;
        return Failure.of(ErrorCode.UNEXPECTED, "the daemon's heap is too small")
                .with("heap", heapMib + "m")
                .with("reason", error)
                .cause(failure)
                .remedy("restart the daemon with a larger one: LARDER_DAEMON_HEAP=" + 2 * heapMib
                        + "m larder serve; or load fewer files at once");
    }

    /** Ignores a lack of threads, which has the same class and another remedy. */
    private static @Nullable OutOfMemoryError find(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < 10; depth++) {
            if (cause instanceof OutOfMemoryError error
                    && !String.valueOf(error.getMessage()).contains("thread")) {
                return error;
            }
            cause = cause.getCause();
        }
        return null;
    }
}
