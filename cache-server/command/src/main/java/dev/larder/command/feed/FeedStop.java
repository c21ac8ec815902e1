package dev.larder.command.feed;

import dev.larder.command.signal.Signals;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.fanout.BatchPublisher;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * Ends a feed early: on Ctrl-C or SIGTERM, when the terminal is closed, when standard input ends, or when its store is gone. Consumers
 * get the reason. The JDK runs every handler on a thread of its own, so a second Ctrl-C is handled while the first still cleans up.
 */
public final class FeedStop {
    private static final int FORCED_EXIT_CODE = 130;
    private static final String RESUME = "start it again with --epochs from the epoch that was interrupted";

    private final BatchPublisher publisher;
    private @Nullable LarderException reason;

    private FeedStop(BatchPublisher publisher) {
        this.publisher = publisher;
    }

    /** Installs the signal handlers. */
    public static FeedStop install(BatchPublisher publisher) {
        FeedStop stop = new FeedStop(publisher);
        Signals.handleStops(stop::handle);
        Signals.ignoreNotices();
        return stop;
    }

    /** Ends the feed when an input ends: its writer has closed it or has ended. */
    public void follow(InputStream input) {
        Thread reader = new Thread(() -> ask(interrupted(awaitEnd(input))), "larder-feed-input");
        reader.setDaemon(true);
        reader.start();
    }

    private static String awaitEnd(InputStream input) {
        byte[] ignored = new byte[64];
        try {
            int found = 0;
            while (found >= 0) {
                found = input.read(ignored);
            }
            return "the end of standard input";
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Ends the feed for a reason; the first one counts. */
    void ask(LarderException why) {
        synchronized (this) {
            if (reason != null) {
                return;
            }
            reason = why;
        }
        publisher.abort(why);
    }

    /** Returns why the feed was ended early, or null if it was not. */
    synchronized @Nullable LarderException reason() {
        return reason;
    }

    private void handle(String name) {
        if (reason() != null && name.equals(Signals.INTERRUPT)) {
            Runtime.getRuntime().halt(FORCED_EXIT_CODE); // the daemon removes the ring
        }
        ask(interrupted("SIG" + name));
    }

    private LarderException interrupted(String by) {
        return Failure.of(ErrorCode.INTERRUPTED, "the feed was interrupted")
                .with("feed", publisher.name())
                .with("pid", ProcessHandle.current().pid())
                .with("by", by)
                .remedy(RESUME);
    }
}
