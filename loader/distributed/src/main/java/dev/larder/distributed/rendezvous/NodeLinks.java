package dev.larder.distributed.rendezvous;

import dev.larder.distributed.rendezvous.MeetingProtocol.Answer;
import dev.larder.distributed.rendezvous.MeetingProtocol.Kind;
import dev.larder.distributed.rendezvous.MeetingProtocol.Met;
import dev.larder.distributed.rendezvous.MeetingProtocol.NotOursException;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * The connections of nodes that have met: between node 0 and each of the others. They are silent unless something has gone wrong. That
 * a process ended its kernel says at once; whether the other machine is still there the kernels find out, which ask each other every
 * second (TCP keep-alive): a stopped process does not look lost to them.
 *
 * <p>Of one thread at a time. Owned by whoever met.
 */
public final class NodeLinks implements AutoCloseable {
    /** How long a connection is silent before the kernel asks, and how long it waits for an answer. */
    private static final int KEEP_ALIVE_SECONDS = 1;

    private static final int KEEP_ALIVE_TRIES = 6;

    private final List<String> cards;
    private final Selector selector;
    private final Queue<News> news = new ArrayDeque<>();

    /** What became of a node. */
    public enum Event {
        /** Its group is broken. */
        BROKEN,
        /** It has closed its group. */
        LEFT,
        /** Its process has ended, or nothing reaches it any more. */
        LOST
    }

    /**
     * Something that became known.
     *
     * @param node at the other end: nodes other than 0 hear of all the others from that one
     * @param code of the failure
     * @param text why, in words
     */
    public record News(int node, Event event, int code, String text) {}

    /** One other node. */
    private static final class Link {
        private final int node;
        private final SocketChannel channel;
        private final ByteBuffer read =
                MeetingProtocol.allocate(MeetingProtocol.ANSWER_HEADER_LENGTH + MeetingProtocol.MAX_TEXT_LENGTH);

        private Link(int node, SocketChannel channel) {
            this.node = node;
            this.channel = channel;
        }
    }

    private NodeLinks(List<String> cards, Selector selector) {
        this.cards = cards;
        this.selector = selector;
    }

    static NodeLinks ofHost(Met met, List<SocketChannel> channels) throws IOException {
        return of(met, 1, channels);
    }

    static NodeLinks ofGuest(Met met, SocketChannel channel) throws IOException {
        return of(met, 0, List.of(channel));
    }

    private static NodeLinks of(Met met, int firstNode, List<SocketChannel> channels) throws IOException {
        NodeLinks links = new NodeLinks(List.copyOf(met.cards()), Selector.open());
        try {
            for (SocketChannel channel : channels) {
                keepAlive(channel);
                channel.register(
                        links.selector, SelectionKey.OP_READ, new Link(firstNode + channels.indexOf(channel), channel));
            }
            return links;
        } catch (IOException | RuntimeException e) {
            links.close();
            throw e;
        }
    }

    /** Has the kernels ask each other; one that cannot be told how often asks seldom. */
    private static void keepAlive(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        set(channel, ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_ALIVE_SECONDS);
        set(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_ALIVE_SECONDS);
        set(channel, ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_TRIES);
    }

    private static void set(SocketChannel channel, SocketOption<Integer> option, int value) throws IOException {
        if (channel.supportedOptions().contains(option)) {
            channel.setOption(option, value);
        }
    }

    /** Returns the cards of all nodes, in their order. */
    public List<String> cards() {
        return cards;
    }

    /** Returns the next thing that became known, within a time; null where nothing did. */
    public @Nullable News await(long timeoutMs) {
        if (news.isEmpty()) {
            try {
                if (timeoutMs > 0) {
                    selector.select(timeoutMs);
                } else {
                    selector.selectNow();
                }
                for (SelectionKey key : selector.selectedKeys()) {
                    read(key, (Link) key.attachment());
                }
                selector.selectedKeys().clear();
            } catch (IOException e) {
                throw Failure.of(ErrorCode.UNEXPECTED, "cannot listen to other nodes")
                        .with("reason", e)
                        .cause(e)
                        .remedy("restart all ranks");
            }
        }
        return news.poll();
    }

    /** Lets a wait of another thread end. */
    public void wakeUp() {
        selector.wakeup();
    }

    private void read(SelectionKey key, Link link) {
        try {
            boolean isEnd = link.channel.read(link.read) < 0;
            for (Answer answer = MeetingProtocol.takeAnswer(link.read);
                    answer != null;
                    answer = MeetingProtocol.takeAnswer(link.read)) {
                take(link, answer);
            }
            if (isEnd) {
                lose(key, link, "its process has ended");
            }
        } catch (IOException gone) {
            lose(key, link, Failure.words(gone));
        } catch (NotOursException stranger) {
            lose(key, link, "it says what no node says");
        }
    }

    private void take(Link link, Answer answer) throws NotOursException {
        switch (answer.kind()) {
            case BROKEN -> {
                int space = answer.text().indexOf(' ');
                Integer code = LaunchVariables.number(answer.text().substring(0, Math.max(0, space)));
                String text = answer.text().substring(space + 1);
                news.add(new News(link.node, Event.BROKEN, code == null ? ErrorCode.UNEXPECTED.number() : code, text));
            }
            case LEFT -> news.add(new News(link.node, Event.LEFT, ErrorCode.REFUSED.number(), ""));
            default -> throw new NotOursException();
        }
    }

    private void lose(SelectionKey key, Link link, String reason) {
        news.add(new News(link.node, Event.LOST, ErrorCode.UNEXPECTED.number(), reason));
        key.cancel();
        close(link.channel);
    }

    /** Tells the nodes at the other ends why this one's group is broken; one whose connection is full hears nothing. */
    public void tellBroken(int code, String text) {
        tell(MeetingProtocol.answer(Kind.BROKEN, code + " " + text));
    }

    /** Tells them that this one has closed its group. */
    public void tellLeft() {
        tell(MeetingProtocol.answer(Kind.LEFT, ""));
    }

    private void tell(ByteBuffer words) {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            Link link = (Link) key.attachment();
            try {
                if (key.isValid()) {
                    link.channel.write(words.duplicate());
                }
            } catch (IOException gone) {
                lose(key, link, Failure.words(gone));
            }
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            return; // gone either way
        }
    }

    /** Ends the connections. Idempotent. */
    @Override
    public void close() {
        for (SelectionKey key : selector.isOpen() ? List.copyOf(selector.keys()) : List.<SelectionKey>of()) {
            close(((Link) key.attachment()).channel);
        }
        try {
            selector.close();
        } catch (IOException e) {
            return; // gone either way
        }
    }

    @Override
    public String toString() {
        return "NodeLinks{nodes=" + cards.size() + "}";
    }
}
