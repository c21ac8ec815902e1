package dev.larder.command;

/** Says things in a thread of its own, as standard error may be stuck for ever while signals are to be heard. */
final class Notice {
    private Notice() {}

    /** Says something, soon; nobody waits for it. */
    static void say(Runnable words) {
        Thread thread = new Thread(words, "larder-notice");
        thread.setDaemon(true);
        thread.start();
    }
}
