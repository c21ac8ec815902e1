package dev.larder.server;

import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import dev.larder.server.control.Peer;
import dev.larder.server.control.Reply;

/** Passes everything on to a client, and reports once how its exchange ended. */
final class WatchedReply implements Reply {
    private final Reply reply;
    private final EndListener listener;
    private boolean hasEnded;

    /** A listener for the end. Exactly one of its methods is called, once. */
    interface EndListener {
        /** The client got its answer. */
        void answered(Response response);

        /** The client got a failure. */
        void failed(Throwable failure);

        /** The client left before the end. */
        void left();
    }

    WatchedReply(Reply reply, EndListener listener) {
        this.reply = reply;
        this.listener = listener;
        reply.onDisconnect(() -> endOnce(listener::left));
    }

    private synchronized void endOnce(Runnable end) {
        if (!hasEnded) {
            hasEnded = true;
            end.run();
        }
    }

    /** Ends the exchange with a failure that another class sends to the client. */
    void abandon(Throwable failure) {
        endOnce(() -> listener.failed(failure));
    }

    @Override
    public void progress(Progress progress) {
        reply.progress(progress);
    }

    @Override
    public void answer(Response response) {
        endOnce(() -> listener.answered(response));
        reply.answer(response);
    }

    @Override
    public void problem(Throwable failure) {
        abandon(failure);
        reply.problem(failure);
    }

    @Override
    public void onDisconnect(Runnable action) {
        reply.onDisconnect(action);
    }

    @Override
    public void onEnd(Runnable action) {
        reply.onEnd(action);
    }

    @Override
    public void onSent(Runnable action) {
        reply.onSent(action);
    }

    @Override
    public Session session() {
        return reply.session();
    }

    @Override
    public Peer peer() {
        return reply.peer();
    }

    @Override
    public boolean isConnected() {
        return reply.isConnected();
    }
}
