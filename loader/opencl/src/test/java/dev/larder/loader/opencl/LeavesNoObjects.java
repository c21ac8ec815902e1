package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test that leaves an OpenCL object, or one of the threads with which JOCL waits for what does not block. */
final class LeavesNoObjects implements BeforeEachCallback, AfterEachCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
        requireNothing();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        requireNothing();
    }

    static void requireNothing() {
        assertThat(LiveObjects.count()).isEmpty();
        assertThat(waitingThreads()).isZero();
    }

    /** Counts the threads that JOCL started. */
    static long waitingThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("AsyncOp"))
                .count();
    }
}
