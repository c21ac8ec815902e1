package dev.larder.server.control;

import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import org.jspecify.annotations.Nullable;

/**
 * Answers one call of a client. Methods may be called on any thread, never block, and do not fail if the client has left. The first {@link
 * #answer} or {@link #problem} ends the call; later ones are ignored.
 *
 * <p>Until then, if the client accepts several messages, the control thread repeats the last progress at least once a second as a sign of
 * life.
 */
public interface Reply {
    /** Returns the client. */
    Peer peer();

    /** Reports the progress. A client that reads slowly gets only the newest one. */
    void progress(Progress progress);

    /** Ends the call with success. Rows are read later, so their list must not change any more. */
    void answer(Response response);

    /** Ends the call with success. */
    default void done(Done done) {
        answer(done);
    }

    /** Ends the call with the failure's code and message. */
    void problem(Throwable failure);

    /** Runs an action once if the client leaves before the call has ended; immediately if it has left already. */
    void onDisconnect(Runnable action);

    /** Runs an action once when the call has ended in any way; immediately if it has ended already. Used to free resources of the call. */
    void onEnd(Runnable action);

    /** Runs an action once when the whole answer is sent, or the client has left; immediately if that has happened already. */
    void onSent(Runnable action);

    /** Returns whether the client still waits for the answer. */
    boolean isConnected();

    /** Returns the part of the connection that outlives the call. */
    Session session();

    /** The state that the calls of one connection share. Thread-safe. */
    interface Session {
        /**
         * Stores a value for later calls, and replaces an earlier one. The action runs once when the connection is closed, immediately if
         * it is closed already, unless {@link #detach} is called before. The connection also closes when the process that opened it has
         * ended, even if a child of that process still has the socket.
         *
         * @param mayBeIdle whether the connection may stay open indefinitely without a call
         */
        void attach(Object value, boolean mayBeIdle, Runnable onClose);

        /** Forgets the value. */
        void detach();

        /** Returns the value of an earlier call; null if there is none. */
        @Nullable
        Object attachment();
    }
}
