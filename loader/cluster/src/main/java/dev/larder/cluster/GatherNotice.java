package dev.larder.cluster;

import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.time.Duration;

/** Reports that a leader waits for nodes: after a few seconds, and then at growing intervals. For the leader's thread. */
final class GatherNotice {
    private static final Duration FIRST = Duration.ofSeconds(3);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);
    private static final String REMEDY = "start the same command on the other nodes, and let them reach this address";

    private final NodeOptions options;
    private final NodeListener listener;
    private final Backoff pauses = new Backoff(FIRST, LONGEST_PAUSE);
    private Deadline next = pauses.next();

    GatherNotice(NodeOptions options, NodeListener listener) {
        this.options = options;
        this.listener = listener;
    }

    /** Reports that nodes are missing, if the next report is due. Returns the time of the next call: at most {@code fewest}, the end of the wait. */
    Deadline look(int nodes, Deadline fewest) {
        if (next.isOver()) {
            listener.said("waiting for nodes: nodes=" + nodes + " needed=" + options.minNodes() + " endpoint="
                    + options.endpoint().text() + " atMost="
                    + fewest.remaining().toSeconds() + "s; " + REMEDY);
            next = pauses.next();
        }
        return next.remainingNanos() < fewest.remainingNanos() ? next : fewest;
    }
}
