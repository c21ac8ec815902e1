package dev.larder.server;

import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import dev.larder.server.control.Peer;
import dev.larder.server.control.Reply;
import java.util.List;

/** Passes everything on to a client, and tells once how its exchange ended. */
final class WatchedReply implements Reply {
    private final Reply reply;
    private final Ending ending;
    private boolean hasEnded;

    /** Who wants to know. Exactly one of the last three is called, once; {@link #turn} never after them, none at the same time. */
    interface Ending {
        /** The client may build what it asked for. */
        void turn();

        /** It has what it asked for. */
        void done();

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
    public void rows(List<? extends Response> rows) {
        reply.rows(rows);
    }

    @Override
    public void build(Build build) {
        synchronized (this) {
            if (!hasEnded) {
                ending.turn();
            }
        }
        reply.build(build);
    }

    @Override
    public void status(DaemonStatus status) {
        reply.status(status);
    }

    @Override
    public void done(Done done) {
        endOnce(ending::done);
        reply.done(done);
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
    public void onClosed(Runnable action) {
        reply.onClosed(action);
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
