package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.message.FieldName;
import dev.larder.message.OptionalField;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports a failure. It keeps the code as received, because a later daemon may have more codes.
 *
 * @param error the full name of the error
 * @param rawCode the exit code of the command
 * @param message the summary of the failure
 * @param values the facts
 * @param remedy the remedy; may be empty
 * @param trace the daemon's stack trace, for finding bugs; empty for names that do not exist
 */
public record Problem(
        String error, int rawCode, String message, Map<String, String> values, String remedy, String trace)
        implements Response {
    private static final String SERVICE = "org.varlink.service.";
    private static final int MAX_TEXT = 8 * 1024;
    private static final int MOST_VALUES = 32;

    /** Describes any failure. An exception other than {@link LarderException} becomes {@link ErrorCode#UNEXPECTED}. */
    public static Problem of(Throwable failure) {
        LarderException known = failure instanceof LarderException expected
                ? expected
                : new LarderException(
                        ErrorCode.UNEXPECTED.number(), "unexpected failure in the daemon: " + failure, failure);
        return of(error(known.code()), known, known.code() == ErrorCode.NOT_FOUND ? "" : trace(failure));
    }

    /** Describes the refusal of an invalid call, by the short name of an error that every Varlink service has. */
    public static Problem ofCall(String serviceError, LarderException failure) {
        return of(SERVICE + serviceError, failure, "");
    }

    private static Problem of(String error, LarderException failure, String trace) {
        Map<String, String> values = new LinkedHashMap<>();
        failure.values().entrySet().stream()
                .limit(MOST_VALUES)
                .forEach(entry -> values.put(entry.getKey(), MessageText.cut(entry.getValue(), MAX_TEXT)));
        return new Problem(
                error,
                failure.rawCode(),
                MessageText.cut(failure.summary(), MAX_TEXT),
                values,
                MessageText.cut(failure.remedy(), MAX_TEXT),
                MessageText.cut(trace, MessageText.MAX_BYTES));
    }

    /** Describes an error without parameters. */
    static Problem ofName(String error, String detail) {
        return new Problem(
                error,
                ErrorCode.REFUSED.number(),
                "the daemon does not understand the call",
                Map.of("error", error, "detail", detail),
                "use the daemon's release of Larder",
                "");
    }

    /** Returns the name of the error of a code: {@code dev.larder.Store.NoSpace}. */
    static String error(ErrorCode code) {
        StringBuilder name = new StringBuilder(Protocol.INTERFACE).append('.');
        for (String word : code.name().split("_", -1)) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return name.toString();
    }

    private static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace, true));
        return trace.toString().stripTrailing();
    }

    /** Returns the exception for the client, with the daemon's trace as its cause. */
    public LarderException exception() {
        return new LarderException(rawCode, message, values, remedy, trace.isEmpty() ? null : new DaemonTrace(trace));
    }

    private record Parameters(
            int code,
            String message,
            Map<String, String> values,
            String remedy,
            @OptionalField @Nullable String trace,
            @OptionalField @Nullable String method,
            @OptionalField @FieldName("interface") @Nullable String interfaceName,
            @OptionalField @Nullable String parameter) {}

    /** Returns the parameters of the message. */
    Record parameters() {
        boolean isOfService = error.startsWith(SERVICE);
        return new Parameters(
                rawCode,
                message,
                values,
                remedy,
                trace.isEmpty() ? null : trace,
                isOfService ? values.get("method") : null,
                isOfService ? values.get("interface") : null,
                isOfService ? values.get("parameter") : null);
    }

    /** Returns this problem with shortened details that fit into a message. */
    Problem shortened() {
        return new Problem(error, rawCode, MessageText.cut(message, MAX_TEXT / 8), Map.of(), "", "");
    }
}
