package dev.larder.launch.process;

/** Why a process was ended from outside, by whoever started it. */
public enum EndReason {
    /** It ran longer than it may. */
    DEADLINE("its time was up"),
    /** It is no longer wanted. */
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
