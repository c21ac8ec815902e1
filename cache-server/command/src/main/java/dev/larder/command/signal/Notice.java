package dev.larder.command.signal;

/** Prints messages on a thread of its own: standard error may block, and signal handlers must not wait for it. */
public final class Notice {
    private Notice() {}

    /** Runs an action that prints; does not wait for it. */
    public static void say(Runnable words) {
        Thread thread = new Thread(words, "larder-notice");
        thread.setDaemon(true);
        thread.start();
    }
}
