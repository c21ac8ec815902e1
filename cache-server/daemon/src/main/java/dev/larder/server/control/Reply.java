package dev.larder.server.control;

import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import org.jspecify.annotations.Nullable;

/**
 * The way back to one client for one call. Methods may be called on any thread, never block and never fail because the client is gone.
 * The first {@link #answer} or {@link #problem} ends the call; whatever comes later is ignored.
 *
 * <p>Until then the control thread repeats the last progress at least once a second, if the client wants more answers, so that it
 * knows that the daemon lives.
 */
public interface Reply {
    /** Returns the client. */
    Peer peer();

    /** Reports how far the work is. A client that reads slowly misses all but the newest. */
    void progress(Progress progress);

    /** Ends the call with success. Rows are read later, so their list must not change any more. */
    void answer(Response response);

    /** Ends the call with success. */
    default void done(Done done) {
        answer(done);
    }

    /** Ends the call with the failure's code and message. */
    void problem(Throwable failure);

    /** Runs an action once if the client leaves before the call has ended, immediately if it has left already. */
    void onDisconnect(Runnable action);

    /**
     * Runs an action once when the call is over, however it ended, immediately if it is over already: what was kept for it is of no use any
     * more.
     */
    void onEnd(Runnable action);

    /** Runs an action once when the whole answer is sent, or the client has left. Immediately if that has happened already. */
    void onSent(Runnable action);

    /** Returns whether the client still waits for the answer. */
    boolean isConnected();

    /** Returns the part of the connection that outlives the call. */
    Session session();

    /** The state that the calls of one connection share. Thread-safe. */
    interface Session {
        /**
         * Keeps a value for later calls, in place of an earlier one. The action runs once when the connection is closed, immediately if
         * it is closed already, unless {@link #forget} comes before. The connection also closes when the process that opened it has ended,
         * even if a child of that process still has the socket.
         *
         * @param mayBeIdle whether the connection stays open however long it makes no call
         */
        void keep(Object value, boolean mayBeIdle, Runnable onClose);

        /** Keeps the value no longer. */
        void forget();

        /** Returns the value that an earlier call has kept; null if there is none. */
        @Nullable
        Object kept();
    }
}
