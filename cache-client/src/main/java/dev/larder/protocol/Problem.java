package dev.larder.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;

/** Reports a failure. The code is kept as it came: a daemon of a later minor may know more of them. */
public record Problem(int rawCode, String message) implements Response {

    /** Describes any failure; what is not a {@link LarderException} becomes {@link ErrorCode#UNEXPECTED}. */
    public static Problem of(Throwable failure) {
        if (failure instanceof LarderException known) {
            return new Problem(known.rawCode(), String.valueOf(known.getMessage()));
        }
        return new Problem(ErrorCode.UNEXPECTED.number(), "unexpected failure in the daemon: " + failure);
    }

    /** Returns the exception that the client throws for it. */
    public LarderException exception() {
        return new LarderException(rawCode, message, null);
    }
}
