package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * Reports a failure. The code is kept as it came: a daemon of a later minor may know more of them.
 *
 * @param trace where in the daemon it happened, for those who look for a bug; may be empty
 */
public record Problem(int rawCode, String message, String trace) implements Response {

    /** Reports a failure that needs no trace. */
    public Problem(int rawCode, String message) {
        this(rawCode, message, "");
    }

    /** Describes any failure; what is not a {@link LarderException} becomes {@link ErrorCode#UNEXPECTED}. */
    public static Problem of(Throwable failure) {
        if (failure instanceof LarderException known) {
            return new Problem(known.rawCode(), String.valueOf(known.getMessage()), trace(failure));
        }
        String message = "unexpected failure in the daemon: " + failure;
        return new Problem(ErrorCode.UNEXPECTED.number(), message, trace(failure));
    }

    private static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace, true));
        return trace.toString().stripTrailing();
    }

    /** Returns the exception that the client throws for it; the daemon's trace is its cause. */
    public LarderException exception() {
        return new LarderException(rawCode, message, trace.isEmpty() ? null : new DaemonTrace(trace));
    }
}
