package dev.larder.server.control;

import dev.larder.internal.protocol.Request;

/** Handles requests. */
@FunctionalInterface
public interface RequestHandler {
    /**
     * Answers a request; requests of every Varlink service are answered before. Called on the control thread, so it must return
     * immediately: slow work goes to other threads, which answer through the {@link Reply} when they are ready. An exception is sent as the
     * answer.
     */
    void handle(Request request, Reply reply);
}
