package dev.larder.cluster;

import dev.larder.launch.internal.MasterPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One attempt of all nodes: who takes part, and what became of them. For the leader's thread. */
final class Round implements AutoCloseable {
    private final int number;
    private final List<Member> group;
    private final List<Member> lost = new ArrayList<>();
    private final MasterPort port;
    private @Nullable String haltReason;

    /** Begins with the nodes in the order of their places; owns the port. */
    Round(int number, List<Member> group, MasterPort port) {
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

    List<Member> group() {
        return group;
    }

    boolean has(Member member) {
        return group.contains(member);
    }

    /** Tells whether the ranks of all nodes have ended, or are out of reach. */
    boolean isOver() {
        return group.stream().allMatch(member -> member.over() != null || lost.contains(member));
    }

    boolean isSuccess() {
        return group.stream().allMatch(Member::hasSucceeded);
    }

    /** Takes note that a node is out of reach; one whose ranks did all that they should is no loss. */
    void lose(Member member) {
        if (has(member) && !member.hasSucceeded() && !lost.contains(member)) {
            lost.add(member);
        }
    }

    List<Member> lost() {
        return lost;
    }

    /** Returns the node whose rank died first. */
    Optional<Member> firstFailure() {
        return group.stream()
                .filter(Member::hasFailed)
                .min((one, other) -> Long.signum(one.failedNanos() - other.failedNanos()));
    }

    /** Returns why the nodes were asked to end their ranks; null while they were not. */
    @Nullable
    String haltReason() {
        return haltReason;
    }

    /** Asks the nodes whose ranks run to end them. */
    void halt(StopKind kind, String reason) {
        haltReason = reason;
        for (Member member : group) {
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
