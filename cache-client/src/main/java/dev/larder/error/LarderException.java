package dev.larder.error;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A failure of Larder, with a message of the form {@code failure: key=value key=value; remedy}.
 *
 * <p>Mistakes in the calling code, such as an index out of range or use after close, throw the JDK's own exceptions instead.
 */
public class LarderException extends RuntimeException {
    private static final long serialVersionUID = 2;

    /** Control characters, except for those of a text of several lines. */
    private static final Pattern COMMANDS_OF_TERMINALS = Pattern.compile("[\\p{Cntrl}\\x80-\\x9f&&[^\n\t]]");

    private static final Pattern NEXT_LINE = Pattern.compile("\n(?!  )");

    private final int rawCode;
    private final String summary;
    private final LinkedHashMap<String, String> values;
    private final String remedy;

    /** Creates an exception that has only a message. */
    public LarderException(int rawCode, String message, @Nullable Throwable cause) {
        this(rawCode, message, Map.of(), "", cause);
    }

    /**
     * Creates an exception.
     *
     * @param rawCode the number of its code, possibly of a later version
     * @param summary the failure, without values
     * @param values the facts, in their order
     * @param remedy the remedy; empty if there is none
     */
    public LarderException(
            int rawCode, String summary, Map<String, String> values, String remedy, @Nullable Throwable cause) {
        super(message(summary, values, remedy), cause);
        this.rawCode = rawCode;
        this.summary = summary;
        this.values = new LinkedHashMap<>(values);
        this.remedy = remedy;
    }

    private static String message(String summary, Map<String, String> values, String remedy) {
        StringBuilder message = new StringBuilder(summary);
        String separator = ": ";
        for (Map.Entry<String, String> value : values.entrySet()) {
            message.append(separator).append(value.getKey()).append('=').append(shown(value.getValue()));
            separator = " ";
        }
        return remedy.isEmpty()
                ? message.toString()
                : message.append("; ").append(remedy).toString();
    }

    /**
     * Returns a fact in a form that is safe to print. A file name may contain control sequences for terminals, or a second line
     * that looks like another message.
     */
    private static String shown(String value) {
        return NEXT_LINE
                .matcher(COMMANDS_OF_TERMINALS.matcher(value).replaceAll("?"))
                .replaceAll("\n  ");
    }

    /** Returns the kind of failure. */
    public final ErrorCode code() {
        return ErrorCode.ofNumber(rawCode);
    }

    /** Returns the number of the code, as it was received. */
    public final int rawCode() {
        return rawCode;
    }

    /** Returns the first part of the message, without values: the failure. */
    public final String summary() {
        return summary;
    }

    /** Returns the facts, in the order of the message. */
    public final Map<String, String> values() {
        return Collections.unmodifiableMap(values);
    }

    /** Returns the last part of the message, the remedy; empty if there is none. */
    public final String remedy() {
        return remedy;
    }
}
