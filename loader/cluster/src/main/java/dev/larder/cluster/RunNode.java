package dev.larder.cluster;

import dev.larder.distributed.internal.meeting.Link;
import dev.larder.distributed.internal.meeting.Outbox;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A node from the leader's view. Only its final and volatile fields are for other threads than the leader's. */
final class RunNode {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final Link<Message> link;
    private final Message.Hello hello;
    private final int number = COUNT.incrementAndGet();
    private volatile int node = -1;
    private volatile @Nullable Outbox<Message> outbox;
    private boolean isSeated;
    private boolean hasTakenPart;
    private volatile long heardNanos = System.nanoTime();
    private Message.@Nullable OfData data;
    private Message.@Nullable Loaded loaded;
    private Message.@Nullable Over over;
    private long overNanos;

    RunNode(Link<Message> link, Message.Hello hello) {
        this.link = link;
        this.hello = hello;
    }

    Link<Message> link() {
        return link;
    }

    Message.Hello hello() {
        return hello;
    }

    /** Records that a message has arrived. For the thread that receives from the node. */
    void heard() {
        heardNanos = System.nanoTime();
    }

    /** Returns the time of its last message. */
    long heardNanos() {
        return heardNanos;
    }

    int nodeRank() {
        return hello.nodeRank();
    }

    /** Returns its number in the order of arrival. */
    int number() {
        return number;
    }

    /** Returns its place in the last round; −1 if it had none. */
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
        return isSeated;
    }

    /** Sends it signs of life from now on: it may wait for a place as long as it may wait for such a sign. */
    void reassure(Duration pause) {
        if (outbox == null) {
            outbox = new Outbox<>(link, pause, new Message.Ping());
        }
    }

    /** Admits it. */
    void seat() {
        isSeated = true;
    }

    /** Ends the link. */
    void hangUp() {
        Outbox<Message> sending = outbox;
        if (sending != null) {
            sending.close();
        }
        link.close();
    }

    /** Returns its last answer about the data; null before the first. */
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
     * Returns whether it has the data.
     *
     * @param nodes the number of nodes that share the data; 0 if all nodes have the same data
     */
    boolean isLoaded(int nodes) {
        Message.Loaded report = loaded;
        return report != null && (nodes == 0 || (report.node() == node && report.nodes() == nodes));
    }

    /** Returns its report after loading the data; null before. */
    Message.@Nullable Loaded loaded() {
        return loaded;
    }

    /** Returns its report of the end of its ranks; null while they run. */
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

    /** Returns the time of its first failure, by this machine's clock. */
    long failedNanos() {
        return over == null ? overNanos : overNanos - over.ageNanos();
    }

    /** Sends a message. The leader does not wait until an admitted node reads it. */
    void tell(Message message) {
        Outbox<Message> sending = outbox;
        if (isSeated && sending != null) {
            sending.send(message);
            return;
        }
        try {
            link.send(message);
        } catch (IOException e) {
            link.close(); // its thread reports that to the leader
        }
    }

    /** Names the node, for people. */
    String text() {
        String rank = node >= 0 ? "node " + node : nodeRank() >= 0 ? "node rank " + nodeRank() : "a node";
        return rank + " (" + hello.host() + ", " + link.peer() + ")";
    }

    /** Returns a short name, for the prefix of its lines. */
    String shortText() {
        return hello.host() + "#" + node;
    }
}
