package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.FormerProtocol;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response.InterfaceDescription;
import dev.larder.internal.protocol.Response.ServiceInfo;
import dev.larder.message.BadMessage;
import dev.larder.message.Call;
import dev.larder.message.MessageBudget;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Set;

/** Decodes messages into calls, and passes them to the handler, one at a time for each connection. Used by the control thread. */
final class Dispatcher {
    /** All other calls are for the owner only. */
    private static final Set<Class<? extends Request>> FOR_MEMBERS = Set.of(
            Request.Create.class,
            Request.Files.class,
            Request.Room.class,
            Request.Part.class,
            Request.Publish.class,
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

    Dispatcher(ControlSettings settings, PeerPolicy peers, RequestHandler handler, Counters counters, ErrorLog errors) {
        this.settings = settings;
        this.peers = peers;
        this.handler = handler;
        this.counters = counters;
        this.errors = errors;
    }

    /** Handles the next message if it has arrived; otherwise reads first. Returns false if the client has left. */
    boolean read(Connection connection) throws IOException {
        try {
            boolean isTaken = take(connection);
            if (!isTaken && !connection.read()) {
                return false;
            }
            if (!isTaken) {
                take(connection);
            }
        } catch (MessageBudget.Exhausted e) {
            end(
                    connection,
                    Failure.of(ErrorCode.REFUSED, "too many long requests at a time")
                            .with("reason", e.getMessage())
                            .cause(e)
                            .remedy("try again in a moment"));
        }
        return true;
    }

    /** Handles a message if the call before it is answered. Malformed input ends the connection with a reason. */
    private boolean take(Connection connection) {
        try {
            ByteBuffer message = connection.stage() == Connection.Stage.IDLE ? connection.nextMessage() : null;
            if (message != null) {
                begin(connection, message);
                connection.releaseInput();
            }
            return message != null;
        } catch (BadMessage malformed) {
            byte[] beginning = connection.beginning(FormerProtocol.HELLO_BYTES);
            refuse(connection, malformed, FormerProtocol.isHello(beginning));
            return false;
        }
    }

    private void refuse(Connection connection, BadMessage malformed, boolean isOfFormerProtocol) {
        if (isOfFormerProtocol) {
            counters.increment(Counter.PROTOCOL_ERRORS);
            connection.endWith(FormerProtocol.refusal(Failure.of(ErrorCode.REFUSED, "the daemon uses another protocol")
                    .with("daemonProtocol", Protocol.NUMBER)
                    .with("daemonVersion", settings.daemonVersion())
                    .remedy(Protocol.useOneRelease())));
        } else {
            end(
                    connection,
                    Failure.of(ErrorCode.BAD_INPUT, "message is malformed")
                            .with("reason", malformed.getMessage())
                            .remedy("send Varlink: one JSON object in UTF-8, then a NUL byte"));
        }
    }

    private void end(Connection connection, LarderException reason) {
        counters.increment(Counter.PROTOCOL_ERRORS);
        errors.record(reason);
        connection.endWith(Problem.of(reason));
    }

    private void begin(Connection connection, ByteBuffer message) {
        Call call;
        try {
            call = Call.decode(message, Protocol.METHODS);
        } catch (Call.Refused e) {
            counters.increment(Counter.PROTOCOL_ERRORS);
            BadMessage parameter = e.parameter();
            connection
                    .begin(e.call().more(), e.call().oneway())
                    .answer(parameter == null ? noSuchMethod(e.call().method()) : badParameter(parameter));
            return;
        }
        if (call.upgrade()) {
            connection
                    .begin(call.more(), call.oneway())
                    .answer(badParameter("upgrade", "the daemon has no other protocol"));
            return;
        }
        counters.increment(Counter.REQUESTS);
        handle(connection.begin(call.more(), call.oneway()), (Request)
                Objects.requireNonNull(call.parameters(), "a method has parameters"));
    }

    private Problem noSuchMethod(String method) {
        int dot = method.lastIndexOf('.');
        boolean isOtherInterface = dot < 0 || !Protocol.interfaces().contains(method.substring(0, dot));
        return Problem.ofCall(
                isOtherInterface ? "InterfaceNotFound" : "MethodNotFound",
                Failure.of(ErrorCode.REFUSED, "the daemon has no such " + (isOtherInterface ? "interface" : "method"))
                        .with(
                                isOtherInterface ? "interface" : "method",
                                Names.printable(isOtherInterface && dot >= 0 ? method.substring(0, dot) : method))
                        .with("daemonVersion", settings.daemonVersion())
                        .remedy(Protocol.useOneRelease()));
    }

    private Problem badParameter(BadMessage parameter) {
        String reason =
                parameter.reason(); // the reason for a record begins with the field, or with "it" if it concerns all of
        // them
        String first = reason.startsWith("it ") ? "parameters" : reason.split("[= ]", 2)[0];
        return badParameter(parameter.field().isEmpty() ? first : parameter.field(), reason);
    }

    private Problem badParameter(String parameter, String reason) {
        return Problem.ofCall(
                "InvalidParameter",
                Failure.of(ErrorCode.BAD_INPUT, "parameter of the call is refused")
                        .with("parameter", parameter)
                        .with("reason", reason)
                        .with("daemonVersion", settings.daemonVersion())
                        .remedy("see the interface " + Protocol.INTERFACE
                                + "; a client of a later release may send parameters that this daemon does not have"));
    }

    private void handle(ActiveCall reply, Request request) {
        try {
            if (request instanceof Request.GetInfo) {
                reply.answer(info());
            } else if (request instanceof Request.GetInterfaceDescription description) {
                describe(description.interfaceName(), reply);
            } else if (request instanceof Request.Named named && named.name().length() > Protocol.MAX_NAME_LENGTH) {
                reply.answer(badParameter("name", "it is longer than " + Protocol.MAX_NAME_LENGTH + " characters"));
            } else {
                if (!isForMembers(request)) {
                    peers.requireOwner(reply.peer(), Protocol.shortMethod(request));
                }
                handler.handle(request, reply);
            }
        } catch (RuntimeException | Error failure) {
            if (!(failure instanceof LarderException known) || known.code() == ErrorCode.UNEXPECTED) {
                errors.record(failure);
            }
            reply.problem(failure);
        }
    }

    private ServiceInfo info() {
        return new ServiceInfo(
                "Larder",
                "Larder daemon",
                settings.daemonVersion(),
                "https://varlink.org",
                Protocol.interfaces(),
                Protocol.NUMBER,
                StoreLayout.FORMAT_VERSION,
                ProcessHandle.current().pid());
    }

    private void describe(String interfaceName, ActiveCall reply) {
        if (Protocol.interfaces().contains(interfaceName)) {
            reply.answer(new InterfaceDescription(Protocol.description(interfaceName)));
        } else {
            reply.answer(noSuchMethod(interfaceName + "."));
        }
    }

    /** Returns whether members of the group may make this call. The handler checks whether they may change the dataset. */
    private static boolean isForMembers(Request request) {
        return FOR_MEMBERS.contains(request.getClass())
                || (request instanceof Request.Verify verify && !verify.againstSources());
    }
}
