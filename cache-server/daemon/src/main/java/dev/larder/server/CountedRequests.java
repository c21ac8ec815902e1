package dev.larder.server;

import dev.larder.layout.Names;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.NewFilesRequest;
import dev.larder.protocol.PublishRequest;
import dev.larder.protocol.RegionRequest;
import dev.larder.protocol.Request;
import dev.larder.server.control.Reply;
import dev.larder.server.control.RequestHandler;
import java.time.Duration;
import java.util.function.Predicate;

/** Passes requests on and notes which of them use the daemon. Who only looks, at lists or totals, uses nothing. */
final class CountedRequests implements RequestHandler {
    private final RequestHandler requests;
    private final Activity activity;
    private final Predicate<String> isResident;

    CountedRequests(RequestHandler requests, Activity activity, Predicate<String> isResident) {
        this.requests = requests;
        this.activity = activity;
        this.isResident = isResident;
    }

    @Override
    public void load(LoadRequest request, Reply reply) {
        activity.use(reply, watched -> requests.load(request, watched));
    }

    @Override
    public void create(Request.Create request, Reply reply) {
        boolean isThere = !request.evenIfResident() && isResident.test(request.name());
        activity.ask(isThere, reply, watched -> requests.create(request, watched));
    }

    @Override
    public void makeFiles(NewFilesRequest request, Reply reply) {
        activity.use(reply, watched -> requests.makeFiles(request, watched));
    }

    @Override
    public void makeRoom(Request.MakeRoom request, Reply reply) {
        activity.use(reply, watched -> requests.makeRoom(request, watched));
    }

    @Override
    public void publish(PublishRequest request, Reply reply) {
        activity.use(reply, watched -> requests.publish(request, watched));
    }

    @Override
    public void await(String name, Duration timeout, boolean evenIfUnknown, Reply reply) {
        activity.ask(
                isResident.test(Names.datasetIn(name)),
                reply,
                watched -> requests.await(name, timeout, evenIfUnknown, watched));
    }

    @Override
    public void list(String prefix, boolean includeRetired, Reply reply) {
        requests.list(prefix, includeRetired, reply);
    }

    @Override
    public void info(String name, Reply reply) {
        requests.info(name, reply);
    }

    @Override
    public void evict(String name, boolean forget, Reply reply) {
        activity.use(reply, watched -> requests.evict(name, forget, watched));
    }

    @Override
    public void pin(String name, boolean pinned, Reply reply) {
        activity.use(reply, watched -> requests.pin(name, pinned, watched));
    }

    @Override
    public void errors(Reply reply) {
        requests.errors(reply);
    }

    @Override
    public void verify(String name, boolean againstSources, Reply reply) {
        activity.use(reply, watched -> requests.verify(name, againstSources, watched));
    }

    @Override
    public void reload(String name, Reply reply) {
        activity.use(reply, watched -> requests.reload(name, watched));
    }

    @Override
    public void status(Reply reply) {
        requests.status(reply);
    }

    @Override
    public void regions(RegionRequest request, Reply reply) {
        if (request instanceof RegionRequest.ListAll) {
            requests.regions(request, reply);
        } else {
            activity.use(reply, watched -> requests.regions(request, watched));
        }
    }

    @Override
    public void stop(boolean keep, Reply reply) {
        requests.stop(keep, reply);
    }
}
