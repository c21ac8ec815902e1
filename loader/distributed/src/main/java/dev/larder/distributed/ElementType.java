package dev.larder.distributed;

/** The types of elements of collectives, in native byte order. */
public enum ElementType {
    FLOAT(1, 4),
    DOUBLE(2, 8),

    /** IEEE binary16; ranks are combined as floats, rounded once at the end. */
    HALF(3, 2),

    /** The upper half of a float; ranks are combined as floats, rounded once at the end. */
    BFLOAT16(4, 2),
    INT(5, 4),
    LONG(6, 8);

    private final int number;
    private final int byteSize;

    ElementType(int number, int byteSize) {
        this.number = number;
        this.byteSize = byteSize;
    }

    /** Returns the number that ranks compare. */
    int number() {
        return number;
    }

    /** Returns the bytes of an element. */
    public int byteSize() {
        return byteSize;
    }

    boolean isInteger() {
        return this == INT || this == LONG;
    }
}
