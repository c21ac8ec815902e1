package dev.larder.distributed;

import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import java.util.StringJoiner;

/** Who the ranks of a group are, and whether they are there: each holds the seat of its number while its process lives. */
final class GroupPeers {
    /** How long lists of ranks in messages grow. */
    private static final int LIST_LENGTH = 512;

    private final Region region;
    private final SharedMemory memory;
    private final GroupSpec spec;
    private final GroupFault fault;

    GroupPeers(Region region, GroupSpec spec, GroupFault fault) {
        this.region = region;
        this.memory = region.memory();
        this.spec = spec;
        this.fault = fault;
    }

    /** Takes the place of this rank, which nobody may have had before. */
    void join() {
        int line = GroupDescriptor.line(spec.rank());
        boolean isFree = region.tryTakeSeat(spec.rank());
        if (!isFree || memory.getIntVolatile(line + GroupDescriptor.STATE_OFFSET) != GroupDescriptor.STATE_ABSENT) {
            throw Failure.of(ErrorCode.REFUSED, "another process is, or was, this rank of the group")
                    .with("key", spec.key())
                    .with("rank", spec.rank())
                    .with("pid", pid(spec.rank()))
                    .with("alive", !isFree)
                    .remedy("give each process a rank of its own, and each start of the ranks a key of its own");
        }
        memory.putLong(
                line + GroupDescriptor.PID_OFFSET, ProcessHandle.current().pid());
        memory.putIntVolatile(line + GroupDescriptor.STATE_OFFSET, GroupDescriptor.STATE_JOINED);
    }

    void close() {
        memory.putIntVolatile(
                GroupDescriptor.line(spec.rank()) + GroupDescriptor.STATE_OFFSET, GroupDescriptor.STATE_CLOSED);
    }

    private long pid(int rank) {
        return memory.getLong(GroupDescriptor.line(rank) + GroupDescriptor.PID_OFFSET);
    }

    private int state(int rank) {
        return memory.getIntVolatile(GroupDescriptor.line(rank) + GroupDescriptor.STATE_OFFSET);
    }

    private boolean isBehind(int rank, int step) {
        return memory.getIntVolatile(GroupDescriptor.line(rank) + GroupDescriptor.PROGRESS_OFFSET) - step < 0;
    }

    String describe(int rank) {
        return "rank=" + rank + " pid=" + pid(rank);
    }

    /** Breaks the group where a rank that has not come so far never will: it has closed its group. */
    void requireNoneClosed(int step, String call) {
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            if (state(rank) == GroupDescriptor.STATE_CLOSED && isBehind(rank, step)) {
                throw fault.breakBecause(
                        ErrorCode.REFUSED,
                        "a rank has closed its process group while others need it: " + describe(rank) + " key="
                                + spec.key() + " call=" + call + "; let all ranks make the same calls");
            }
        }
    }

    /** Breaks the group where a rank that has not come so far never will: its process has ended. */
    void requireAlive(int step, String call) {
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            if (rank == spec.rank() || !isBehind(rank, step) || state(rank) != GroupDescriptor.STATE_JOINED) {
                continue;
            }
            if (!region.isSeatTaken(rank)
                    && isBehind(rank, step)
                    && state(rank) == GroupDescriptor.STATE_JOINED) { // else it went on, and closed, meanwhile
                throw fault.breakBecause(
                        ErrorCode.UNEXPECTED,
                        "a rank of the process group has died: " + describe(rank) + " key=" + spec.key() + " call="
                                + call + "; see why it ended, and start all ranks again");
            }
        }
    }

    /** Breaks the group because some ranks have not come in time. */
    LarderException late(int step, String call, long timeoutNs) {
        StringJoiner missing = new StringJoiner(", ", "[", "]");
        StringJoiner present = new StringJoiner(", ", "[", "]");
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            StringJoiner list = isBehind(rank, step) ? missing : present;
            if (list.length() < LIST_LENGTH) {
                boolean isAbsent = state(rank) == GroupDescriptor.STATE_ABSENT;
                list.add(isAbsent ? Integer.toString(rank) : rank + " (pid " + pid(rank) + ")");
            }
        }
        return fault.breakBecause(
                ErrorCode.DEADLINE,
                "not all ranks have come in time: key=" + spec.key() + " call=" + call + " missing=" + missing
                        + " present=" + present + " timeoutMs=" + timeoutNs / 1_000_000
                        + "; see whether the missing ones were started, stopped, or do something else");
    }

    /** Breaks the group because a rank does something else than this one. */
    LarderException mismatch(int other, long number) {
        return fault.breakBecause(
                ErrorCode.BAD_INPUT,
                "ranks of the process group made different calls: key=" + spec.key() + " callNumber=" + number + " "
                        + describe(spec.rank()) + " call=" + call(spec.rank(), number) + " otherRank=" + other
                        + " otherPid=" + pid(other) + " otherCall=" + call(other, number)
                        + "; let all ranks make the same calls in the same order");
    }

    private String call(int rank, long number) {
        int call = GroupDescriptor.call(rank, number);
        return CallKind.describe(
                memory.getLong(call + GroupDescriptor.CALL_KIND_OFFSET),
                memory.getLong(call + GroupDescriptor.CALL_BYTES_OFFSET));
    }
}
