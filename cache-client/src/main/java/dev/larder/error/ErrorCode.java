package dev.larder.error;

/**
 * Names each kind of failure once, for exceptions, the control plane and the exit code of the command.
 *
 * <p>The numbers are part of the contract: they never change their meaning, and new ones are added at the end.
 */
public enum ErrorCode {
    UNEXPECTED(1, Category.STOP),
    USAGE(2, Category.FIX_REQUEST),
    NO_DAEMON(3, Category.RETRY),
    NOT_FOUND(4, Category.FIX_REQUEST),
    NO_SPACE(5, Category.RETRY),
    BAD_INPUT(6, Category.FIX_REQUEST),
    REFUSED(7, Category.FIX_REQUEST),
    CHECKSUM(8, Category.STOP),
    DEADLINE(9, Category.RETRY),
    INTERRUPTED(130, Category.STOP);

    /** What a caller can do about a failure. */
    public enum Category {
        /** The same request may succeed later. */
        RETRY,
        /** The request itself, or what it names, has to change. */
        FIX_REQUEST,
        /** Neither helps: look at the message. */
        STOP
    }

    private final int number;
    private final Category category;

    ErrorCode(int number, Category category) {
        this.number = number;
        this.category = category;
    }

    /** Returns the number on the wire, which is also the exit code of the command. */
    public int number() {
        return number;
    }

    /** Returns what a caller can do about it. */
    public Category category() {
        return category;
    }

    /** Finds the code with this number; a number of a later version reads as {@link #UNEXPECTED}. */
    public static ErrorCode ofNumber(int number) {
        for (ErrorCode code : values()) {
            if (code.number == number) {
                return code;
            }
        }
        return UNEXPECTED;
    }
}
