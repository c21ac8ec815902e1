package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.StoreLayout;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.NewFilesRequest;
import dev.larder.protocol.Problem;
import dev.larder.protocol.Protocol;
import dev.larder.protocol.PublishRequest;
import dev.larder.protocol.RegionRequest;
import dev.larder.protocol.Request;
import dev.larder.protocol.RequestCodec;
import dev.larder.protocol.Welcome;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.nio.ByteBuffer;
import java.time.Duration;

/** Takes frames through the exchange: handshake, then one request for the handler. Used by the control thread. */
final class Requests {
    private final ControlSettings settings;
    private final PeerPolicy peers;
    private final RequestHandler handler;
    private final Counters counters;
    private final ErrorLog errors;
    private final RequestCodec codec = new RequestCodec();
    private final long startNanos = System.nanoTime();

    Requests(ControlSettings settings, PeerPolicy peers, RequestHandler handler, Counters counters, ErrorLog errors) {
        this.settings = settings;
        this.peers = peers;
        this.handler = handler;
        this.counters = counters;
        this.errors = errors;
    }

    /** Takes all whole frames that have arrived; what breaks the protocol ends the connection with a reason. */
    void take(Connection connection) {
        try {
            ByteBuffer frame = connection.nextFrame();
            while (frame != null && connection.stage() != Connection.Stage.LEAVING) {
                boolean wasAsking = connection.stage() == Connection.Stage.ASKING;
                take(connection, codec.decode(frame));
                frame = connection.nextFrame();
                if (wasAsking && frame == null) {
                    connection.releaseInput();
                }
            }
        } catch (LarderException malformed) {
            counters.increment(Counter.PROTOCOL_ERRORS);
            errors.record(malformed);
            connection.endWith(Problem.of(malformed));
        }
    }

    private void take(Connection connection, Request request) {
        if (request instanceof Request.Hello hello && connection.stage() == Connection.Stage.GREETING) {
            greet(connection, hello);
        } else if (!(request instanceof Request.Hello) && connection.stage() == Connection.Stage.ASKING) {
            connection.enter(Connection.Stage.WORKING);
            counters.increment(Counter.REQUESTS);
            handle(connection, request);
        } else {
            throw Failure.of(ErrorCode.BAD_INPUT, "message out of turn")
                    .with("message", request.getClass().getSimpleName())
                    .with("stage", connection.stage())
                    .remedy("send Hello, then one request, on each connection");
        }
    }

    private void greet(Connection connection, Request.Hello hello) {
        if (hello.protocolMajor() != Protocol.MAJOR) {
            counters.increment(Counter.PROTOCOL_ERRORS);
            connection.endWith(Problem.of(Failure.of(ErrorCode.REFUSED, "the daemon speaks another protocol")
                    .with("daemonProtocol", Protocol.MAJOR + "." + Protocol.MINOR)
                    .with("clientProtocol", hello.protocolMajor() + "." + hello.protocolMinor())
                    .with("daemonVersion", settings.daemonVersion())
                    .with("clientVersion", hello.clientVersion())
                    .remedy(Protocol.useOneRelease(ProcessHandle.current().pid()))));
            return;
        }
        connection.enter(Connection.Stage.ASKING);
        connection.send(new Welcome(
                Protocol.MAJOR,
                Protocol.MINOR,
                StoreLayout.FORMAT_VERSION,
                ProcessHandle.current().pid(),
                Duration.ofNanos(System.nanoTime() - startNanos),
                settings.daemonVersion()));
    }

    private void handle(Connection reply, Request request) {
        try {
            if (!isForMembers(request)) {
                peers.requireOwner(reply.peer(), request.getClass().getSimpleName());
            }
            dispatch(reply, request);
        } catch (RuntimeException | Error failure) {
            if (!(failure instanceof LarderException known) || known.code() == ErrorCode.UNEXPECTED) {
                errors.record(failure);
            }
            reply.problem(failure);
        }
    }

    /** Tells what members of the group may ask for; whose dataset it is, the handler looks at. Whatever is not named is the owner's. */
    private static boolean isForMembers(Request request) {
        return request instanceof Request.Create
                || request instanceof NewFilesRequest
                || request instanceof Request.MakeRoom
                || request instanceof PublishRequest
                || request instanceof Request.Wait
                || request instanceof Request.ListArrays
                || request instanceof Request.Info
                || request instanceof Request.Evict
                || request instanceof Request.Pin
                || request instanceof Request.Status
                || (request instanceof Request.Verify verify && !verify.againstSources());
    }

    private void dispatch(Reply reply, Request request) {
        if (request instanceof LoadRequest load) {
            handler.load(load, reply);
        } else if (request instanceof Request.Create create) {
            handler.create(create, reply);
        } else if (request instanceof PublishRequest publish) {
            handler.publish(publish, reply);
        } else if (request instanceof NewFilesRequest files) {
            handler.makeFiles(files, reply);
        } else if (request instanceof Request.MakeRoom room) {
            handler.makeRoom(room, reply);
        } else if (request instanceof Request.Wait wait) {
            handler.await(wait.name(), wait.timeout(), wait.evenIfUnknown(), reply);
        } else if (request instanceof Request.ListArrays list) {
            handler.list(list.prefix(), list.includeRetired(), reply);
        } else if (request instanceof Request.Info info) {
            handler.info(info.name(), reply);
        } else if (request instanceof Request.Evict evict) {
            handler.evict(evict.name(), evict.forget(), reply);
        } else if (request instanceof Request.Pin pin) {
            handler.pin(pin.name(), pin.pinned(), reply);
        } else if (request instanceof Request.Errors) {
            handler.errors(reply);
        } else if (request instanceof Request.Verify verify) {
            handler.verify(verify.name(), verify.againstSources(), reply);
        } else if (request instanceof Request.Reload reload) {
            handler.reload(reload.name(), reply);
        } else if (request instanceof RegionRequest regions) {
            handler.regions(regions, reply);
        } else if (request instanceof Request.Status) {
            handler.status(reply);
        } else if (request instanceof Request.Stop stop) {
            handler.stop(stop.keep(), reply);
        } else {
            throw new IllegalArgumentException("no handler for " + request);
        }
    }
}
