package dev.larder.reader;

import java.io.IOException;

/** Reports that a place cannot respond now, such as with the status 503. */
public final class TemporaryFailure extends IOException {
    private static final long serialVersionUID = 1;

    private final long waitMs;

    /**
     * Describes a failure.
     *
     * @param waitMs how long the place asks to wait before the next request; 0 for no such advice
     */
    public TemporaryFailure(String reason, long waitMs) {
        super(reason);
        this.waitMs = waitMs;
    }

    /** Returns how long to wait at least. */
    public long waitMs() {
        return waitMs;
    }
}
