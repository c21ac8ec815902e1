package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.Link;
import dev.larder.distributed.internal.meeting.Outbox;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A node as the leader knows it. But for what is final, for the leader's thread. */
final class Member {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final Link<Message> link;
    private final Message.Hello hello;
    private final int number = COUNT.incrementAndGet();
    private volatile int node = -1;
    private volatile @Nullable Outbox<Message> outbox;
    private boolean hasTakenPart;
    private volatile long heardNanos = System.nanoTime();
    private Message.@Nullable OfData data;
    private Message.@Nullable Loaded loaded;
    private Message.@Nullable Over over;
    private long overNanos;

    Member(Link<Message> link, Message.Hello hello) {
        this.link = link;
        this.hello = hello;
    }

    Link<Message> link() {
        return link;
    }

    Message.Hello hello() {
        return hello;
    }

    /** Takes note that it has said something. For the thread that listens to it. */
    void heard() {
        heardNanos = System.nanoTime();
    }

    /** Returns when it said something last. */
    long heardNanos() {
        return heardNanos;
    }

    int nodeRank() {
        return hello.nodeRank();
    }

    /** Returns how many came before it. */
    int number() {
        return number;
    }

    /** Returns its place in the last round; −1 where it had none. */
    int node() {
        return node;
    }

    void node(int place) {
        node = place;
    }

    /** Records that its ranks have been started. */
    void takePart() {
        hasTakenPart = true;
    }

    /** Returns whether its ranks have ever been started. */
    boolean hasTakenPart() {
        return hasTakenPart;
    }

    boolean isSeated() {
        return outbox != null;
    }

    /** Takes it in, and tells it from now on that the leader lives. */
    void seat(Duration pause) {
        outbox = new Outbox<>(link, pause, new Message.Ping());
    }

    /** Ends the link. */
    void hangUp() {
        Outbox<Message> sending = outbox;
        if (sending != null) {
            sending.close();
        }
        link.close();
    }

    /** Returns what it said last of the data; null before. */
    Message.@Nullable OfData data() {
        return data;
    }

    void data(Message.@Nullable OfData answer) {
        data = answer;
        if (answer instanceof Message.Loaded done && done.exitCode() == 0) {
            loaded = done;
        }
    }

    /**
     * Tells whether it has the data.
     *
     * @param nodes how many nodes it has its shards among; 0 where its place does not matter
     */
    boolean isLoaded(int nodes) {
        Message.Loaded said = loaded;
        return said != null && (nodes == 0 || (said.node() == node && said.nodes() == nodes));
    }

    /** Returns what it said when it had the data; null before. */
    Message.@Nullable Loaded loaded() {
        return loaded;
    }

    /** Returns what it said of the end of its ranks; null while they run. */
    Message.@Nullable Over over() {
        return over;
    }

    void over(Message.@Nullable Over message) {
        over = message;
        overNanos = System.nanoTime();
    }

    boolean hasSucceeded() {
        return over != null && over.outcome() == Message.Over.Outcome.SUCCESS;
    }

    boolean hasFailed() {
        return over != null && over.outcome() == Message.Over.Outcome.FAILURE;
    }

    /** Returns when its rank failed, by this machine's clock. */
    long failedNanos() {
        return over == null ? overNanos : overNanos - over.ageNanos();
    }

    /** Sends a message. One that is taken in need not read it for the leader to go on. */
    void tell(Message message) {
        Outbox<Message> sending = outbox;
        if (sending != null) {
            sending.send(message);
            return;
        }
        try {
            link.send(message);
        } catch (IOException e) {
            link.close(); // of which the leader then hears
        }
    }

    /** Names the node, for people. */
    String text() {
        String rank = node >= 0 ? "node " + node : nodeRank() >= 0 ? "node rank " + nodeRank() : "a node";
        return rank + " (" + hello.host() + ", " + link.peer() + ")";
    }

    /** Names it shortly, for the prefix of its lines. */
    String shortText() {
        return hello.host() + "#" + node;
    }
}
