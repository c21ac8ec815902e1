package dev.larder.server.source.text;

/** Says what is wrong with a row; whoever knows the file and the line makes a refusal of it. */
final class BadCell extends RuntimeException {
    private static final long serialVersionUID = 1;

    BadCell(String reason) {
        super(reason, null, false, false);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
