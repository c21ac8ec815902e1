package dev.larder.launch.process;

/** The reason why a launcher ended a process. */
public enum EndReason {
    /** It exceeded its timeout. */
    DEADLINE("its time was up"),
    /** It was cancelled. */
    CANCELLED("cancelled");

    private final String text;

    EndReason(String text) {
        this.text = text;
    }

    /** Returns the reason in words. */
    public String text() {
        return text;
    }
}
