package dev.larder.reader;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLHandshakeException;

/**
 * Counts the failures of one request and waits before the next try: longer each time, and at random, so that many who failed together do
 * not come back together. Gives up before the daemon takes the process for hung. Used by one thread.
 */
public final class Retries {
    private static final int MOST_FAILURES = 8;
    private static final long FIRST_PAUSE_MS = 100;
    private static final long LONGEST_PAUSE_MS = 5_000;

    /** The time since the first failure: three requests to a server that does not respond, of up to 19 s each, take less than a minute. */
    private static final long LONGEST_NS = 19_000_000_000L;

    /** A request, made as often as it takes. */
    @FunctionalInterface
    public interface Request {
        /** Makes it once. */
        void make() throws IOException;
    }

    private int failures;
    private long firstFailureNs;

    /** Reports the last failure of a request, which is its cause. */
    static final class GaveUp extends IOException {
        private static final long serialVersionUID = 1;

        private final int failures;

        private GaveUp(IOException last, int failures) {
            super(BadSource.words(last), last);
            this.failures = failures;
        }

        /** Returns the number of failures. */
        int failures() {
            return failures;
        }
    }

    /** Makes a request until it succeeds; fails with {@link BadSource} immediately, or with the last failure as a cause after too many. */
    public static void run(Request request) throws IOException {
        Retries retries = new Retries();
        while (true) {
            try {
                request.make();
                return;
            } catch (BadSource e) {
                throw e;
            } catch (IOException e) {
                retries.pauseAfter(e);
            }
        }
    }

    /** Forgets the failures, because bytes have arrived since. */
    void reset() {
        failures = 0;
    }

    /** Waits before the next try. */
    void pauseAfter(IOException failure) throws GaveUp {
        long now = System.nanoTime();
        if (failures == 0) {
            firstFailureNs = now;
        }
        failures++;
        if (failures > MOST_FAILURES || now - firstFailureNs > LONGEST_NS || isHopeless(failure)) {
            throw new GaveUp(failure, failures);
        }
        long ceilingMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS << failures);
        long askedMs = failure instanceof TemporaryFailure temporary ? temporary.waitMs() : 0;
        try {
            Thread.sleep(Math.min(LONGEST_PAUSE_MS, askedMs)
                    + ThreadLocalRandom.current().nextLong(ceilingMs));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GaveUp(failure, failures);
        }
    }

    /** Returns whether no further try can succeed. */
    private static boolean isHopeless(IOException failure) {
        return failure instanceof SSLHandshakeException;
    }
}
