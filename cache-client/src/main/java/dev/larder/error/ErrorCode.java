package dev.larder.error;

/**
 * The kinds of failures, for exceptions, the control plane and the exit code of the command.
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

    /** The ways to react to a failure. */
    public enum Category {
        /** The same request may succeed later. */
        RETRY,
        /** The request, or something that it names, must change. */
        FIX_REQUEST,
        /** Neither helps: read the message. */
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

    /** Returns the way to react. */
    public Category category() {
        return category;
    }

    /** Returns the code with this number, or {@link #UNEXPECTED} if only a later version has it. */
    public static ErrorCode ofNumber(int number) {
        for (ErrorCode code : values()) {
            if (code.number == number) {
                return code;
            }
        }
        return UNEXPECTED;
    }
}
