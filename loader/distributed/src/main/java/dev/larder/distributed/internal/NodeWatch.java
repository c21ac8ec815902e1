package dev.larder.distributed.internal;

import dev.larder.distributed.internal.meeting.NodeLinks;
import dev.larder.distributed.internal.meeting.NodeLinks.News;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches the other nodes for the leader of a node, in a thread of its own: breaks the group of this node with their reasons, and sends
 * them the reason if it breaks here. Node 0 forwards the reason of a node to all others.
 */
public final class NodeWatch implements AutoCloseable {
    private static final long LOOK_MS = 100;
    private static final long CLOSE_PATIENCE_MS = 2000;

    private final NodeLinks links;
    private final GroupFault fault;
    private final String[] labels;
    private final Runnable lookAround;
    private final boolean[] hasLeft;
    private final Thread thread;
    private volatile boolean closing;
    private boolean told;

    /**
     * Starts the thread. Closes the links at its end.
     *
     * @param labels of the nodes, for messages
     * @param lookAround breaks the group if a rank of this node has died
     */
    public NodeWatch(String name, NodeLinks links, GroupFault fault, String[] labels, Runnable lookAround) {
        this.links = links;
        this.fault = fault;
        this.labels = labels;
        this.lookAround = lookAround;
        this.hasLeft = new boolean[labels.length];
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try (links) {
            while (!closing) {
                News news = links.await(LOOK_MS);
                if (news != null) {
                    heed(news);
                }
                look();
                tell();
            }
            tell();
            if (!told) {
                links.tellLeft();
            }
        } catch (RuntimeException | Error e) {
            if (!closing) {
                fault.breakBecause(
                        ErrorCode.UNEXPECTED,
                        "cannot watch other nodes any more: failure=" + e + "; restart all ranks");
            }
        }
    }

    private void heed(News news) {
        switch (news.event()) {
            case BROKEN -> fault.breakBecause(ErrorCode.ofNumber(news.code()), news.text());
            case LEFT -> hasLeft[news.node()] = true;
            case LOST -> {
                if (!hasLeft[news.node()]) {
                    fault.breakBecause(
                            ErrorCode.UNEXPECTED,
                            "a node of the process group is lost:" + labels[news.node()] + " reason=" + news.text()
                                    + "; find out why it ended, check the network between, and restart all ranks");
                }
            }
        }
    }

    private void look() {
        try {
            lookAround.run();
        } catch (LarderException broken) {
            return; // the ranks of this node have the reason, and the other nodes get it next
        }
    }

    private void tell() {
        @Nullable LarderException broken = told ? null : fault.broken();
        if (broken != null) {
            told = true;
            links.tellBroken(broken.rawCode(), String.valueOf(broken.getMessage()));
        }
    }

    /** Reports to the other nodes that this one has left, unless the group is broken. Idempotent. */
    @Override
    public void close() {
        closing = true;
        links.wakeUp();
        boolean isInterrupted = Thread.interrupted();
        try {
            thread.join(CLOSE_PATIENCE_MS);
        } catch (InterruptedException e) {
            isInterrupted = true;
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "NodeWatch{" + links + " every " + TimeUnit.MILLISECONDS.toNanos(LOOK_MS) + " ns}";
    }
}
