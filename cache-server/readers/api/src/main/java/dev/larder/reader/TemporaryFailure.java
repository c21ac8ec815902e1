package dev.larder.reader;

import java.io.IOException;

/** Says that a place cannot answer now, such as with the status 503. */
public final class TemporaryFailure extends IOException {
    private static final long serialVersionUID = 1;

    private final long waitMs;

    /**
     * Describes what happened.
     *
     * @param waitMs how long the place asks to wait before the next request; 0 where it does not say
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
