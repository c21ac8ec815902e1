package dev.larder.server;

import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import dev.larder.server.control.Peer;
import dev.larder.server.control.Reply;

/** Passes everything on to a client, and tells once how its exchange ended. */
final class WatchedReply implements Reply {
    private final Reply reply;
    private final Ending ending;
    private boolean hasEnded;

    /** Who wants to know. Exactly one of these is called, once. */
    interface Ending {
        /** It has the answer that it asked for. */
        void answered(Response response);

        /** It was told of a failure. */
        void failed(Throwable failure);

        /** It did not wait for the end. */
        void left();
    }

    WatchedReply(Reply reply, Ending ending) {
        this.reply = reply;
        this.ending = ending;
        reply.onDisconnect(() -> endOnce(ending::left));
    }

    private synchronized void endOnce(Runnable end) {
        if (!hasEnded) {
            hasEnded = true;
            end.run();
        }
    }

    /** The exchange ends with a failure that somebody else tells the client. */
    void abandon(Throwable failure) {
        endOnce(() -> ending.failed(failure));
    }

    @Override
    public void progress(Progress progress) {
        reply.progress(progress);
    }

    @Override
    public void answer(Response response) {
        endOnce(() -> ending.answered(response));
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
