package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.NewFilesRequest;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.PublishRequest;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.RequestCodec;
import dev.larder.internal.protocol.Welcome;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;

/** Takes frames through the exchange: handshake, then one request for the handler. Used by the control thread. */
final class Dispatcher {
    /** Whatever is not named is the owner's. */
    private static final Set<Class<? extends Request>> FOR_MEMBERS = Set.of(
            Request.Create.class,
            NewFilesRequest.class,
            Request.MakeRoom.class,
            PublishRequest.class,
            Request.Wait.class,
            Request.ListArrays.class,
            Request.Info.class,
            Request.Evict.class,
            Request.Pin.class,
            Request.Status.class,
            Request.Loads.class);

    private final ControlSettings settings;
    private final PeerPolicy peers;
    private final RequestHandler handler;
    private final Counters counters;
    private final ErrorLog errors;
    private final RequestCodec codec = new RequestCodec();
    private final long startNanos = System.nanoTime();

    Dispatcher(ControlSettings settings, PeerPolicy peers, RequestHandler handler, Counters counters, ErrorLog errors) {
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
            throw Failure.of(ErrorCode.BAD_INPUT, "message out of order")
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
            handler.handle(request, reply);
        } catch (RuntimeException | Error failure) {
            if (!(failure instanceof LarderException known) || known.code() == ErrorCode.UNEXPECTED) {
                errors.record(failure);
            }
            reply.problem(failure);
        }
    }

    /** Tells what members of the group may ask for; whose dataset it is, the handler looks at. */
    private static boolean isForMembers(Request request) {
        return FOR_MEMBERS.contains(request.getClass())
                || (request instanceof Request.Verify verify && !verify.againstSources());
    }
}
