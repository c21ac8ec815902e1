package dev.larder.server.metrics;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The errors of the daemon: each kind once, with its count and times. Bounded: the kind that was seen longest ago is dropped first.
 * Thread-safe.
 *
 * <p>Two errors are of one kind if they have the same subject, class and place in the code; messages differ in their values. Agrona's
 * {@code DistinctErrorLog} is not used because it never drops entries: once its buffer is full, it loses the new errors, which matter most.
 */
public final class ErrorLog {
    private static final Logger LOG = LoggerFactory.getLogger(ErrorLog.class);
    private static final int CAPACITY = 256;
    private static final int STACK_CHARS = 8_192;

    private final Clock clock;
    private final int capacity;
    private final Map<Kind, Entry> entries = new LinkedHashMap<>();

    /** Creates a log of the usual size. */
    public ErrorLog(Clock clock) {
        this(clock, CAPACITY);
    }

    ErrorLog(Clock clock, int capacity) {
        this.clock = clock;
        this.capacity = capacity;
    }

    /** Records an error. The first of its kind also goes to the daemon's log with its stack trace. */
    public void record(Throwable error) {
        record("", error);
    }

    private void record(String what, Throwable error) {
        if (add(what, error) == 1) {
            LOG.error("error recorded: {}", Failure.words(error), error);
        }
    }

    /** Records an error that no client receives, and logs the operation that failed. */
    public void report(String what, Throwable error) {
        record(what, error);
        LOG.warn("{}: {}", what, Failure.words(error));
    }

    /**
     * Records the failure of a load or build, separately for each {@code subject}. Its client also receives it, but may be long gone when a
     * person looks for the reason. Omits loads that were cancelled, or that ended with the daemon.
     */
    public void recordUnlessCancelled(String subject, Throwable error) {
        if (!(error instanceof LarderException known) || known.code() == ErrorCode.UNEXPECTED) {
            record(subject, error);
        } else if (known.code() != ErrorCode.INTERRUPTED && known.code() != ErrorCode.NO_DAEMON) {
            add(subject, error);
        }
    }

    /** Returns the recorded errors, the most recent kind last. */
    public synchronized List<Entry> entries() {
        return new ArrayList<>(entries.values());
    }

    private synchronized long add(String what, Throwable error) {
        Instant now = clock.instant();
        Kind kind = Kind.of(what, error);
        Entry before = entries.remove(kind);
        Entry after = before == null
                ? new Entry(1, now, now, message(error), stackTrace(error))
                : new Entry(before.count() + 1, before.first(), now, message(error), before.stackTrace());
        entries.put(kind, after);
        if (entries.size() > capacity) {
            entries.remove(entries.keySet().iterator().next());
        }
        return after.count();
    }

    /** Returns the message that a client gets, or also the class of an unexpected error. */
    private static String message(Throwable error) {
        return error instanceof LarderException ? String.valueOf(error.getMessage()) : String.valueOf(error);
    }

    private static String stackTrace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.getBuffer().length() <= STACK_CHARS
                ? text.toString()
                : text.getBuffer().substring(0, STACK_CHARS) + "…";
    }

    /** One kind of error: count, first and last time, its newest message and the stack trace of the first. */
    public record Entry(long count, Instant first, Instant last, String message, String stackTrace) {}

    private record Kind(String subject, Class<?> type, int code, List<StackTraceElement> place) {
        private static final int FRAMES = 8;

        static Kind of(String subject, Throwable error) {
            StackTraceElement[] frames = error.getStackTrace();
            int code = error instanceof LarderException known ? known.rawCode() : 0;
            return new Kind(
                    subject,
                    error.getClass(),
                    code,
                    Arrays.asList(Arrays.copyOf(frames, Math.min(FRAMES, frames.length))));
        }
    }
}
