package dev.larder.server;

import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.Request;
import dev.larder.server.control.Reply;
import dev.larder.server.control.RequestHandler;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Passes requests on, and records which of them use the daemon. */
final class CountedRequests implements RequestHandler {
    /** Requests that only read lists or totals. */
    private static final Set<Class<? extends Request>> NOT_COUNTED = Set.of(
            Request.ListArrays.class,
            Request.Info.class,
            Request.Errors.class,
            Request.Status.class,
            Request.Loads.class,
            RegionRequest.ListAll.class,
            Request.Stop.class);

    private final RequestHandler handler;
    private final Activity activity;
    private final Predicate<String> isResident;

    CountedRequests(RequestHandler handler, Activity activity, Predicate<String> isResident) {
        this.handler = handler;
        this.activity = activity;
        this.isResident = isResident;
    }

    @Override
    public void handle(Request request, Reply reply) {
        Consumer<Reply> handling = watched -> handler.handle(request, watched);
        if (request instanceof Request.Create create) {
            activity.ask(!create.evenIfResident() && isResident.test(create.name()), reply, handling);
        } else if (request instanceof Request.Wait wait) {
            activity.ask(isResident.test(Names.datasetIn(wait.name())), reply, handling);
        } else if (NOT_COUNTED.contains(request.getClass())) {
            handling.accept(reply);
        } else {
            activity.use(reply, handling);
        }
    }
}
