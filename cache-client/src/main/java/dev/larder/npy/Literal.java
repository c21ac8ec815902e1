package dev.larder.npy;

import java.util.List;

/** A value in the subset of Python literals that numpy writes. {@code at} is its offset in the text. */
sealed interface Literal {
    int at();

    record Text(int at, String value) implements Literal {}

    record Whole(int at, long value) implements Literal {}

    record Flag(int at, boolean value) implements Literal {}

    record Tuple(int at, List<Literal> items) implements Literal {}

    record Sequence(int at, List<Literal> items) implements Literal {}

    record Mapping(int at, List<Entry> entries) implements Literal {}

    record Entry(Literal key, Literal value) {}

    /** Returns the name of the kind of value, for messages. */
    default String word() {
        if (this instanceof Text) {
            return "a string";
        } else if (this instanceof Whole) {
            return "a number";
        } else if (this instanceof Flag) {
            return "a truth value";
        } else if (this instanceof Tuple) {
            return "a tuple";
        }
        return this instanceof Sequence ? "a list" : "a dict";
    }
}
