package dev.larder.error;

import dev.larder.internal.error.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Reports a failure of Larder: {@code what failed: key=value key=value; what to do}. Build one with {@link Failure}.
 *
 * <p>Mistakes in the calling code (an index out of range, use after close) are the JDK's own exception types instead.
 */
public class LarderException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int rawCode;

    /** Creates an exception with the number of its code as it came over the wire, which may be of a later version. */
    public LarderException(int rawCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.rawCode = rawCode;
    }

    /** Returns the kind of failure. */
    public final ErrorCode code() {
        return ErrorCode.ofNumber(rawCode);
    }

    /** Returns the number of the code, kept as it was received. */
    public final int rawCode() {
        return rawCode;
    }
}
