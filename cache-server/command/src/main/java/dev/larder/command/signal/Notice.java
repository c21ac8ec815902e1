package dev.larder.command.signal;

/** Says things in a thread of its own, as standard error may be stuck for ever while signals are to be heard. */
public final class Notice {
    private Notice() {}

    /** Says something, soon; nobody waits for it. */
    public static void say(Runnable words) {
        Thread thread = new Thread(words, "larder-notice");
        thread.setDaemon(true);
        thread.start();
    }
}
