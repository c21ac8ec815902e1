package dev.larder.server.control;

import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import java.util.List;

/**
 * The way back to one client. Methods may be called on any thread, never block and never fail because the client is gone.
 * The first {@link #done} or {@link #problem} ends the exchange; whatever comes later is ignored.
 *
 * <p>Until then the control thread repeats the last progress once a second by itself, so that the client knows that the
 * daemon lives.
 */
public interface Reply {
    /** Returns who has asked. */
    Peer peer();

    /** Tells how far the work is. A client that reads slowly misses all but the newest. */
    void progress(Progress progress);

    /** Sends rows; the list is read later, so it must not change any more. */
    void rows(List<? extends Response> rows);

    /** Tells the client that it is its turn to build; the exchange goes on. */
    void build(Build build);

    /** Sends totals. */
    void status(DaemonStatus status);

    /** Ends the exchange with success. */
    void done(Done done);

    /** Ends the exchange with the failure's code and message. */
    void problem(Throwable failure);

    /** Runs an action once if the client leaves before the exchange has ended, at once if it has left already. */
    void onDisconnect(Runnable action);

    /**
     * Runs an action once when the exchange is over, however it ended, at once if it is over already: what was kept for this client
     * is of no use any more.
     */
    void onEnd(Runnable action);

    /** Runs an action once when the connection is closed: the whole answer is sent, or the client has left. Immediately if it is closed already. */
    void onClosed(Runnable action);

    /** Tells whether somebody still waits for the answer. */
    boolean isConnected();
}
