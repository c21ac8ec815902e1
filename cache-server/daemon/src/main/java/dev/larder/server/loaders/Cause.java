package dev.larder.server.loaders;

import java.util.Locale;

/** The uses of the time between two batches. */
public enum Cause {
    /** Rows come from a disk, a network or swap. */
    DISK("disk or source"),
    GATHER("gather"),
    USER_CODE("user code"),
    DECODE("decode"),
    TRANSFORM("transform"),
    UPLOAD("upload"),
    /** Threads of the loader could run, but have no processor. */
    PROCESSOR("no processor"),
    /** The loader waits for the trainer. */
    TRAINER("trainer"),
    /** Epochs begin, and all threads are idle: their order is computed, and threads start. */
    STARTING("starting");

    private final String text;

    Cause(String text) {
        this.text = text;
    }

    /** Returns the cause in words. */
    public String text() {
        return text;
    }

    /** Returns the cause as a key of JSON objects. */
    public String key() {
        String[] words = name().toLowerCase(Locale.ROOT).split("_", -1);
        return words.length == 1
                ? words[0]
                : words[0] + Character.toUpperCase(words[1].charAt(0)) + words[1].substring(1);
    }
}
