package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.Acceptor;
import dev.larder.distributed.internal.meeting.Link;
import dev.larder.distributed.internal.meeting.Link.StrangerException;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Passes the messages of nodes to the leader's queue, and the lines of their ranks to the forwarder. */
final class Arrivals implements Acceptor.Guests<Message, RunNode> {
    private static final int MOST_REPORTED_STRANGERS = 100;

    /** A node that has come, its message, or the end of its link. */
    record Event(
            RunNode member,
            @Nullable Message message,
            @Nullable String goneBecause) {}

    private final BlockingQueue<Event> events;
    private final LineForwarder lines;
    private final NodeListener listener;
    private final Duration silence;
    private final AtomicInteger turnedAway = new AtomicInteger();

    Arrivals(BlockingQueue<Event> events, LineForwarder lines, NodeListener listener, Duration silence) {
        this.events = events;
        this.lines = lines;
        this.listener = listener;
        this.silence = silence;
    }

    /** Listens at the endpoint; null if another program does. */
    static @Nullable Acceptor<Message, RunNode> listen(NodeOptions options) {
        try {
            ServerSocket listener = Acceptor.listen(options.endpoint(), options.secret());
            return new Acceptor<>(
                    listener,
                    Message.PROTOCOL,
                    options.secret(),
                    options.times().silence());
        } catch (IOException e) {
            if (e instanceof BindException && String.valueOf(e.getMessage()).contains("in use")) {
                return null; // other reasons are, for example, a port that needs root
            }
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot listen at the rendezvous endpoint")
                    .with("endpoint", options.endpoint().text())
                    .with("reason", e)
                    .cause(e)
                    .remedy("name another --rdzv-endpoint");
        }
    }

    @Override
    public RunNode greet(Link<Message> link, Message message) throws IOException {
        if (!(message instanceof Message.Hello hello)) {
            throw new StrangerException("it does not introduce itself");
        }
        RunNode member = new RunNode(link, hello);
        events.add(new Event(member, null, null));
        return member;
    }

    @Override
    public void heard(RunNode member, Message message) {
        member.heard();
        if (message instanceof Message.Lines some) {
            lines.offer(member.shortText(), some.rank(), some.outputLines());
        } else if (!(message instanceof Message.Ping)) {
            events.add(new Event(member, message, null));
        }
    }

    @Override
    public void gone(RunNode member, IOException reason) {
        if (reason instanceof StrangerException) {
            report(member.link().peer(), reason);
        }
        events.add(new Event(member, null, cause(reason)));
    }

    private String cause(IOException reason) {
        return reason instanceof SocketTimeoutException
                ? "silent for " + silence.toSeconds() + " s"
                : reason instanceof StrangerException ? Failure.words(reason) : "connection closed";
    }

    @Override
    public void turnedAway(InetAddress address, IOException reason) {
        if (reason instanceof StrangerException) {
            report(address.getHostAddress(), reason);
        }
    }

    private void report(String address, IOException reason) {
        int count = turnedAway.incrementAndGet();
        if (count <= MOST_REPORTED_STRANGERS) {
            listener.said("a caller was turned away: address=" + address + " reason=" + Failure.words(reason)
                    + (count == MOST_REPORTED_STRANGERS ? "; further ones are not reported" : ""));
        }
    }
}
