package dev.larder.distributed.internal.meeting;

import dev.larder.distributed.internal.meeting.MeetingMessage.Broken;
import dev.larder.distributed.internal.meeting.MeetingMessage.Left;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections of nodes that have met: between node 0 and each of the others. They carry no data until a node fails. The kernel
 * reports the end of a process immediately, and the loss of a machine after a few seconds (TCP keep-alive); a stopped process is not lost.
 *
 * <p>Owned by the caller of the meeting. Thread-safe.
 */
public final class NodeLinks implements AutoCloseable {
    private static final int MOST_CHARACTERS = 4096;
    private static final Duration FAREWELL = Duration.ofSeconds(1);
    private static final News WAKE_UP = new News(-1, Event.LEFT, 0, "");

    private final BlockingQueue<News> news = new LinkedBlockingQueue<>();
    private List<MeetingPeer> peers = List.of();
    private List<String> cards = List.of();

    /** The end of a node. */
    public enum Event {
        /** Its group is broken. */
        BROKEN,
        /** It has closed its group. */
        LEFT,
        /** Its process has ended, or no network leads to it. */
        LOST
    }

    /**
     * A change at another node.
     *
     * @param node at the other end; a node other than 0 gets all changes from node 0
     * @param code of the failure
     * @param text the reason
     */
    public record News(int node, Event event, int code, String text) {}

    /** Takes over the connections. Their threads may have reported news before. */
    NodeLinks begin(List<String> cardsOfAll, List<MeetingPeer> others) {
        cards = List.copyOf(cardsOfAll);
        peers = List.copyOf(others);
        return this;
    }

    /** Receives from a peer in a thread of its own. */
    NodeLinks listenTo(MeetingPeer peer) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (true) {
                            heard(peer.node(), peer.link().receive());
                        }
                    } catch (IOException e) {
                        gone(peer.node(), e);
                    }
                },
                "larder-node-link");
        thread.setDaemon(true);
        thread.start();
        return this;
    }

    void heard(int node, MeetingMessage message) throws IOException {
        if (message instanceof Broken broken) {
            news.add(new News(node, Event.BROKEN, broken.code(), broken.text()));
        } else if (message instanceof Left) {
            news.add(new News(node, Event.LEFT, ErrorCode.REFUSED.number(), ""));
        } else {
            throw new Link.StrangerException("it sends a message that no node sends");
        }
    }

    void gone(int node, IOException reason) {
        String text = reason instanceof EOFException ? "its process has ended" : Failure.words(reason);
        news.add(new News(node, Event.LOST, ErrorCode.UNEXPECTED.number(), text));
    }

    /** Returns the cards of all nodes, in their order. */
    public List<String> cards() {
        return cards;
    }

    /** Waits for the next change; null if there is none in time. */
    public @Nullable News await(long timeoutMs) {
        try {
            News next = news.poll(timeoutMs, TimeUnit.MILLISECONDS);
            return WAKE_UP.equals(next) ? null : next;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Ends a wait of another thread. */
    public void wakeUp() {
        news.add(WAKE_UP);
    }

    /** Reports to the nodes at the other ends why the group of this one is broken. */
    public void tellBroken(int code, String text) {
        tell(new Broken(code, text.substring(0, Math.min(text.length(), MOST_CHARACTERS))));
    }

    /** Reports to them that this one has closed its group. */
    public void tellLeft() {
        tell(new Left());
    }

    private void tell(MeetingMessage message) {
        peers.forEach(peer -> peer.outbox().send(message));
    }

    /** Sends the waiting messages, and closes the connections. Idempotent. */
    @Override
    public void close() {
        Deadline patience = Deadline.after(FAREWELL);
        peers.forEach(peer -> peer.outbox().flush(patience));
        peers.forEach(MeetingPeer::close);
    }

    @Override
    public String toString() {
        return "NodeLinks{nodes=" + cards.size() + "}";
    }
}
