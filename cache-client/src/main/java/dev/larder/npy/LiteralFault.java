package dev.larder.npy;

/** Describes a syntax error and its position in a literal. Callers add the file, and throw a failure. */
final class LiteralFault extends Exception {
    /** The remedy for a file. */
    static final String SAVE_AGAIN = "save the array again with numpy.save(..., allow_pickle=False)";

    private static final long serialVersionUID = 1;

    private final int position;
    private final String reason;
    private final String remedy;

    LiteralFault(int position, String reason) {
        this(position, reason, SAVE_AGAIN);
    }

    LiteralFault(int position, String reason, String remedy) {
        super(reason, null, false, false);
        this.position = position;
        this.reason = reason;
        this.remedy = remedy;
    }

    /** Returns the index of the offending character. */
    int position() {
        return position;
    }

    String reason() {
        return reason;
    }

    String remedy() {
        return remedy;
    }
}
