package dev.larder.npy;

/** The kinds of elements, as in numpy. */
public enum Kind {
    BOOL('b'),
    INT('i'),
    UINT('u'),
    FLOAT('f'),
    COMPLEX('c'),
    /** Bytes of a fixed length, padded with zeros. */
    BYTES('S'),
    /** Text of a fixed number of code points in UTF-32, padded with zeros. */
    UNICODE('U'),
    /** Raw bytes without a meaning. */
    VOID('V'),
    DATETIME('M'),
    TIMEDELTA('m'),
    /** Named fields, each with a type of its own. */
    STRUCT('V');

    private final char letter;

    Kind(char letter) {
        this.letter = letter;
    }

    /** Returns the letter of the kind in a {@code descr} string. */
    public char letter() {
        return letter;
    }

    /** Returns whether elements have a byte order. */
    boolean isOrdered(int itemSize) {
        return switch (this) {
            case BOOL, BYTES, VOID, STRUCT -> false;
            case INT, UINT -> itemSize > 1;
            case FLOAT, COMPLEX, UNICODE, DATETIME, TIMEDELTA -> true;
        };
    }
}
