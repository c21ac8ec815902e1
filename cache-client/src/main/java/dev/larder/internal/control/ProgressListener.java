package dev.larder.internal.control;

import dev.larder.internal.protocol.Progress;

/** Hears how far a request is, on the thread that made it, at least once a second. */
@FunctionalInterface
public interface ProgressListener {
    /** Ignores everything. */
    ProgressListener NONE = progress -> {};

    /** Takes one report; the same report again means that the daemon is alive and still at it. */
    void progress(Progress progress);
}
