package dev.larder.server.control;

import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import java.util.function.BiConsumer;

/** Does with every request what a test says; unless told otherwise it is done at once. */
final class ScriptedHandler implements RequestHandler {
    private volatile BiConsumer<Request, Reply> behaviour = (request, reply) -> reply.done(Done.NOTHING);

    /** Sets what happens with requests. */
    void on(BiConsumer<Request, Reply> newBehaviour) {
        behaviour = newBehaviour;
    }

    @Override
    public void handle(Request request, Reply reply) {
        behaviour.accept(request, reply);
    }
}
