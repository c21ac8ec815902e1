package dev.larder.server.control;

import dev.larder.protocol.Done;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.NewFilesRequest;
import dev.larder.protocol.PublishRequest;
import dev.larder.protocol.RegionRequest;
import dev.larder.protocol.Request;
import java.time.Duration;
import java.util.function.BiConsumer;

/** Does with every request what a test says; unless told otherwise it is done at once. */
final class ScriptedHandler implements RequestHandler {
    private volatile BiConsumer<String, Reply> behaviour = (request, reply) -> reply.done(Done.NOTHING);

    /** Sets what happens with requests, which come as text: {@code evict x}. */
    void on(BiConsumer<String, Reply> newBehaviour) {
        behaviour = newBehaviour;
    }

    @Override
    public void load(LoadRequest request, Reply reply) {
        behaviour.accept("load " + request.sources(), reply);
    }

    @Override
    public void create(Request.Create request, Reply reply) {
        behaviour.accept("create " + request.name(), reply);
    }

    @Override
    public void makeFiles(NewFilesRequest request, Reply reply) {
        behaviour.accept("files " + request.token(), reply);
    }

    @Override
    public void makeRoom(Request.MakeRoom request, Reply reply) {
        behaviour.accept("room " + request.token(), reply);
    }

    @Override
    public void publish(PublishRequest request, Reply reply) {
        behaviour.accept("publish " + request.token(), reply);
    }

    @Override
    public void await(String name, Duration timeout, boolean evenIfUnknown, Reply reply) {
        behaviour.accept("wait " + name, reply);
    }

    @Override
    public void list(String prefix, boolean includeRetired, Reply reply) {
        behaviour.accept("list " + prefix, reply);
    }

    @Override
    public void info(String name, Reply reply) {
        behaviour.accept("info " + name, reply);
    }

    @Override
    public void evict(String name, boolean forget, Reply reply) {
        behaviour.accept("evict " + name, reply);
    }

    @Override
    public void pin(String name, boolean pinned, Reply reply) {
        behaviour.accept((pinned ? "pin " : "unpin ") + name, reply);
    }

    @Override
    public void errors(Reply reply) {
        behaviour.accept("errors", reply);
    }

    @Override
    public void verify(String name, boolean againstSources, Reply reply) {
        behaviour.accept("verify " + name, reply);
    }

    @Override
    public void reload(String name, Reply reply) {
        behaviour.accept("reload " + name, reply);
    }

    @Override
    public void status(Reply reply) {
        behaviour.accept("status", reply);
    }

    @Override
    public void regions(RegionRequest request, Reply reply) {
        behaviour.accept("regions " + request, reply);
    }

    @Override
    public void stop(boolean keep, Reply reply) {
        behaviour.accept("stop " + keep, reply);
    }
}
