package dev.larder.cluster;

import dev.larder.launch.internal.MasterPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One attempt of all nodes: its members, and their ends. For the leader's thread. */
final class Round implements AutoCloseable {
    private final int number;
    private final List<RunNode> group;
    private final List<RunNode> lost = new ArrayList<>();
    private final MasterPort port;
    private @Nullable String haltReason;

    /** Begins with the nodes in the order of their places; owns the port. */
    Round(int number, List<RunNode> group, MasterPort port) {
        this.number = number;
        this.group = List.copyOf(group);
        this.port = port;
        group.forEach(member -> member.over(null));
    }

    int number() {
        return number;
    }

    int port() {
        return port.number();
    }

    List<RunNode> group() {
        return group;
    }

    boolean has(RunNode member) {
        return group.contains(member);
    }

    /** Returns whether the ranks of all nodes have ended, or are out of reach. */
    boolean isOver() {
        return group.stream().allMatch(member -> member.over() != null || lost.contains(member));
    }

    boolean isSuccess() {
        return group.stream().allMatch(RunNode::hasSucceeded);
    }

    /** Records that a node is out of reach; this is no loss after its ranks have succeeded. */
    void lose(RunNode member) {
        if (has(member) && !member.hasSucceeded() && !lost.contains(member)) {
            lost.add(member);
        }
    }

    List<RunNode> lost() {
        return lost;
    }

    /** Returns the node of the first rank that died. */
    Optional<RunNode> firstFailure() {
        return group.stream()
                .filter(RunNode::hasFailed)
                .min((one, other) -> Long.signum(one.failedNanos() - other.failedNanos()));
    }

    /** Returns the reason of a request to end the ranks; null before one. */
    @Nullable
    String haltReason() {
        return haltReason;
    }

    /** Requests the end of all running ranks from their nodes. */
    void halt(StopKind kind, String reason) {
        haltReason = reason;
        for (RunNode member : group) {
            if (member.over() == null && !lost.contains(member)) {
                member.tell(new Message.Halt(number, kind, reason));
            }
        }
    }

    @Override
    public void close() {
        port.close();
    }
}
