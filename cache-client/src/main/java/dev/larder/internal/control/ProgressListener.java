package dev.larder.internal.control;

import dev.larder.internal.protocol.Progress;

/** Receives progress reports of a request at least once a second, on the thread that made it. */
@FunctionalInterface
public interface ProgressListener {
    /** Ignores all reports. */
    ProgressListener NONE = progress -> {};

    /** Receives one report. Repeated equal reports mean that the daemon is alive and still working. */
    void progress(Progress progress);
}
