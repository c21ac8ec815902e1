package dev.larder.server.control;

import dev.larder.internal.protocol.Request;

/** Gives requests their meaning. */
@FunctionalInterface
public interface RequestHandler {
    /**
     * Answers a request, but for those of every Varlink service. Called on the control thread, and returns at once: what takes
     * time goes to other threads, which answer through the {@link Reply} when they are ready. An exception is sent as the
     * answer.
     */
    void handle(Request request, Reply reply);
}
