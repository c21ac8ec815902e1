package dev.larder.distributed;

import dev.larder.distributed.internal.GroupDescriptor;
import dev.larder.distributed.internal.GroupFault;
import dev.larder.distributed.internal.GroupSpec;
import dev.larder.distributed.internal.UsableCores;
import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.BitSet;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The ranks of a group: each holds the seat of its number while its process lives. */
final class GroupPeers {
    /** The longest list of ranks in a message. */
    private static final int LIST_LENGTH = 512;

    private final Region region;
    private final SharedMemory memory;
    private final GroupSpec spec;
    private final GroupFault fault;
    private final @Nullable Membership parents;

    /** The places of the ranks in the parent group; only in a subgroup. */
    GroupPeers(Region region, GroupSpec spec, GroupFault fault, @Nullable Membership parents) {
        this.region = region;
        this.memory = region.memory();
        this.spec = spec;
        this.fault = fault;
        this.parents = parents;
    }

    /** Takes the place of this rank, which no other process may have had before. */
    void join() {
        int line = GroupDescriptor.line(spec.rank());
        boolean isFree = region.tryTakeSeat(spec.rank());
        if (!isFree || memory.getIntVolatile(line + GroupDescriptor.STATE_OFFSET) != GroupDescriptor.STATE_ABSENT) {
            throw Failure.of(ErrorCode.REFUSED, "another process is, or was, this rank of the group")
                    .with("key", spec.key())
                    .with("rank", spec.rank())
                    .with("pid", pid(spec.rank()))
                    .with("alive", !isFree)
                    .remedy("give each process its own rank, and use a new key for each start of the ranks");
        }
        memory.putLong(
                line + GroupDescriptor.PID_OFFSET, ProcessHandle.current().pid());
        long[] cores = UsableCores.allowed().toLongArray();
        for (int word = 0; word < Math.min(cores.length, GroupDescriptor.CORES_WORDS); word++) {
            memory.putLong(line + GroupDescriptor.CORES_OFFSET + word * Long.BYTES, cores[word]);
        }
        // Last: a rank that sees this state also sees the pid and the cores.
        memory.putIntVolatile(line + GroupDescriptor.STATE_OFFSET, GroupDescriptor.STATE_JOINED);
    }

    void close() {
        memory.putIntVolatile(
                GroupDescriptor.line(spec.rank()) + GroupDescriptor.STATE_OFFSET, GroupDescriptor.STATE_CLOSED);
    }

    /** Counts the processors that at least one of the ranks may use. */
    int usableCores() {
        BitSet all = new BitSet();
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            long[] cores = new long[GroupDescriptor.CORES_WORDS];
            for (int word = 0; word < cores.length; word++) {
                cores[word] =
                        memory.getLong(GroupDescriptor.line(rank) + GroupDescriptor.CORES_OFFSET + word * Long.BYTES);
            }
            all.or(BitSet.valueOf(cores));
        }
        return all.cardinality();
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
        return "rank=" + name(rank) + " pid=" + pid(rank) + spec.place().label();
    }

    private int name(int rank) {
        return spec.place().ranks().get(rank);
    }

    /** Publishes that this rank waits for other nodes, so that the others wait longer; 0 after the wait. */
    void goAbroad(int graceMs) {
        memory.putIntVolatile(GroupDescriptor.line(spec.rank()) + GroupDescriptor.ABROAD_OFFSET, graceMs);
    }

    /** The time that ranks wait after their timeout while the first one waits for other nodes, because that one can name the reason. */
    long graceNs() {
        int graceMs = memory.getIntVolatile(GroupDescriptor.line(0) + GroupDescriptor.ABROAD_OFFSET);
        return TimeUnit.MILLISECONDS.toNanos(graceMs);
    }

    /** Breaks the group if a rank that has not arrived has closed its group. */
    void requireNoneClosed(int step, String call) {
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            if (state(rank) == GroupDescriptor.STATE_CLOSED && isBehind(rank, step)) {
                throw closed(rank, call);
            }
        }
    }

    private LarderException closed(int rank, String call) {
        return fault.breakBecause(
                ErrorCode.REFUSED,
                "a rank has closed its process group while others need it: " + describe(rank) + " key=" + spec.key()
                        + " call=" + call + "; let all ranks make the same calls");
    }

    /** Breaks the group if the process of a rank that has not arrived has ended. */
    void requireAlive(int step, String call) {
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            if (rank == spec.rank() || !isBehind(rank, step)) {
                continue;
            }
            if (parents != null && state(rank) == GroupDescriptor.STATE_ABSENT) {
                requireComing(parents, rank, call);
            } else if (isDead(rank) && isBehind(rank, step)) {
                throw died(rank, call);
            }
        }
    }

    /** Breaks the group if a rank that had joined is dead, whatever its progress. */
    void requireAllAlive(String call) {
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            if (rank != spec.rank() && isDead(rank)) {
                throw died(rank, call);
            }
        }
    }

    /** Reads the state twice: a rank may close, and leave its seat, between both looks. */
    private boolean isDead(int rank) {
        return state(rank) == GroupDescriptor.STATE_JOINED
                && !region.isSeatTaken(rank)
                && state(rank) == GroupDescriptor.STATE_JOINED;
    }

    private LarderException died(int rank, String call) {
        return fault.breakBecause(
                ErrorCode.UNEXPECTED,
                "a rank of the process group has died: " + describe(rank) + " key=" + spec.key() + " call=" + call
                        + "; find out why it ended, and restart all ranks");
    }

    /** Breaks this group together with the parent group, so that all ranks get the same failure. */
    private void requireComing(Membership parents, int rank, String call) {
        try {
            parents.requireComing(rank, () -> state(rank) == GroupDescriptor.STATE_ABSENT, call);
        } catch (LarderException e) {
            throw fault.breakBecause(e.code(), String.valueOf(e.getMessage()));
        }
    }

    /** Breaks this group if one of its ranks cannot join a subgroup because it has died, closed, or failed. */
    void requireComing(int rank, BooleanSupplier isAbsent, String call) {
        fault.throwIfBroken();
        boolean hasClosed = state(rank) == GroupDescriptor.STATE_CLOSED;
        boolean isDead = !hasClosed && isDead(rank);
        if (isDead && isAbsent.getAsBoolean()) {
            throw died(rank, call);
        }
        if (hasClosed && isAbsent.getAsBoolean()) {
            throw closed(rank, call);
        }
    }

    /** Breaks the group if some ranks have not arrived in time. */
    void requireNoneLate(int step, String call, long timeoutNs) {
        boolean isLate = false;
        StringJoiner missing = new StringJoiner(", ", "[", "]");
        StringJoiner present = new StringJoiner(", ", "[", "]");
        for (int rank = 0; rank < spec.worldSize(); rank++) {
            boolean isMissing = isBehind(rank, step);
            isLate = isLate || isMissing;
            StringJoiner list = isMissing ? missing : present;
            if (list.length() < LIST_LENGTH) {
                boolean isAbsent = state(rank) == GroupDescriptor.STATE_ABSENT;
                list.add(isAbsent ? Integer.toString(name(rank)) : name(rank) + " (pid " + pid(rank) + ")");
            }
        }
        if (isLate) {
            throw fault.breakBecause(
                    ErrorCode.DEADLINE,
                    "not all ranks arrived in time: key=" + spec.key() + " call=" + call + " missing=" + missing
                            + " present=" + present + spec.place().label() + " timeoutMs=" + timeoutNs / 1_000_000
                            + "; check whether the missing ranks were started, are stopped, or are busy elsewhere");
        }
    }

    /** Breaks the group because a rank makes another call than this one. */
    LarderException mismatch(int other, long number) {
        return fault.breakBecause(
                ErrorCode.BAD_INPUT,
                "ranks of the process group made different calls: key=" + spec.key() + " callNumber=" + number + " "
                        + describe(spec.rank()) + " call=" + call(spec.rank(), number) + " otherRank=" + name(other)
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
