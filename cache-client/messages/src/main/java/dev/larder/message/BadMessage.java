package dev.larder.message;

import java.io.Serial;

/** Reports a message that cannot be read: which field, and why. */
public final class BadMessage extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String field;
    private final String reason;

    BadMessage(String field, String reason) {
        super(field.isEmpty() ? reason : field + ": " + reason, null, false, false);
        this.field = field;
        this.reason = reason;
    }

    /** Returns the path of the field, such as {@code sources[3].path}; empty if the whole message is meant. */
    public String field() {
        return field;
    }

    /** Returns why the field is refused. */
    public String reason() {
        return reason;
    }

    /** Returns the same for a field that is not called one of {@code outer}. */
    BadMessage without(String outer) {
        boolean isInner = field.startsWith(outer + ".");
        return isInner || field.equals(outer)
                ? new BadMessage(field.substring(outer.length() + (isInner ? 1 : 0)), reason)
                : this;
    }

    /** Returns the same for a field of {@code outer}. */
    BadMessage in(String outer) {
        boolean isPlain = field.isEmpty() || field.startsWith("[");
        return new BadMessage(isPlain ? outer + field : outer + "." + field, reason);
    }
}
