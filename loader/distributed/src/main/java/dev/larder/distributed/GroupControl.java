package dev.larder.distributed;

import dev.larder.distributed.internal.GroupDescriptor;
import dev.larder.distributed.internal.GroupFault;
import dev.larder.distributed.internal.GroupSpec;
import dev.larder.distributed.internal.UsableCores;
import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.internal.time.Deadline;
import java.util.concurrent.TimeUnit;

/**
 * The progress of a rank, which the others read, and the wait for all of them. A rank spins while a wait is likely to be short, and then
 * sleeps.
 *
 * <p>A sleeper counts itself before it looks again; a rank publishes its progress before it looks for sleepers. So either the sleeper sees
 * the progress or the rank sees the sleeper, and there is no system call without a sleeper. Of several ranks that arrive, only the last one
 * rings: it sees all others.
 *
 * <p>For one thread at a time.
 */
final class GroupControl {
    private static final long LOOK_AROUND_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /** A shorter sleep is worth less than spinning. A longer one means that the others do not run at the moment. */
    private static final long SHORT_SLEEP_NS = 50_000;

    private static final int FEWEST_TURNS = 100;

    private final SharedMemory memory;
    private final GroupSpec spec;
    private final GroupPeers peers;
    private final GroupFault fault;
    private final int[] lines;

    private int step;
    private int known;
    private int mostSpinTurns;
    private int spinTurns;
    private long timeoutNs;
    private long callNumber;
    private long callKind;
    private long callBytes;
    private volatile boolean closing;

    GroupControl(SharedMemory memory, GroupSpec spec, GroupPeers peers, GroupFault fault) {
        this.memory = memory;
        this.spec = spec;
        this.peers = peers;
        this.fault = fault;
        this.lines = new int[spec.worldSize()];
        this.timeoutNs = Deadline.nanos(spec.waits().toJoin());
        for (int rank = 0; rank < lines.length; rank++) {
            lines[rank] = GroupDescriptor.line(rank) + GroupDescriptor.PROGRESS_OFFSET;
        }
        this.step = memory.getIntVolatile(lines[spec.rank()]);
        this.known = step;
    }

    /** Waits until all ranks have joined, and chooses how to wait for them from then on. */
    void gather() {
        publish();
        awaitAll();
        peers.requireAllAlive(what());
        timeoutNs = Deadline.nanos(spec.waits().timeout());
        int cores = Math.min(peers.usableCores(), UsableCores.quota());
        mostSpinTurns = spec.worldSize() <= cores ? spec.waits().mostSpinTurns() : 0;
        spinTurns = mostSpinTurns / 2;
    }

    /** Returns the last step that this rank has published. */
    int step() {
        return step;
    }

    /** Sets the next call of this rank; the others see it with its next step. */
    void beginCall(long kind, long byteSize) {
        if (closing) {
            throw new IllegalStateException("process group is closed: key=" + spec.key());
        }
        fault.throwIfBroken();
        callNumber++;
        callKind = kind;
        callBytes = byteSize;
        int call = GroupDescriptor.call(spec.rank(), callNumber);
        memory.putLong(call + GroupDescriptor.CALL_NUMBER_OFFSET, callNumber);
        memory.putLong(call + GroupDescriptor.CALL_KIND_OFFSET, kind);
        memory.putLong(call + GroupDescriptor.CALL_BYTES_OFFSET, byteSize);
    }

    /** Publishes one more step of this rank. */
    void publish() {
        step++;
        memory.putIntVolatile(lines[spec.rank()], step);
        if (memory.getIntVolatile(GroupDescriptor.SLEEPERS_OFFSET) != 0 && areAllAt(step)) {
            ring();
        }
    }

    private void ring() {
        memory.getAndAddInt(GroupDescriptor.BELL_OFFSET, 1);
        memory.wake(GroupDescriptor.BELL_OFFSET, Integer.MAX_VALUE);
    }

    private boolean areAllAt(int wanted) {
        for (int line : lines) {
            if (memory.getIntVolatile(line) - wanted < 0) {
                return false;
            }
        }
        return true;
    }

    /** Waits until all ranks have published the step of this one. Fails like every call of the group. */
    void awaitAll() {
        requireOpen();
        if (known != step) {
            spinUntilAllAreThere();
            fault.throwIfBroken(); // the others may have continued if this rank was stopped before it published
            known = step;
        }
    }

    private void requireOpen() {
        if (closing) {
            throw new IllegalStateException(
                    "process group was closed in a call: key=" + spec.key() + " call=" + what());
        }
    }

    private void spinUntilAllAreThere() {
        int turns = spinTurns;
        for (int line : lines) {
            while (memory.getIntVolatile(line) - step < 0) {
                if (--turns < 0) {
                    sleepUntilAllAreThere();
                    return;
                }
                Thread.onSpinWait();
            }
        }
    }

    /** A sleep counts at most twice its length: ranks that were all stopped together have not waited for each other. */
    private void sleepUntilAllAreThere() {
        long nowNs = System.nanoTime();
        long waitedNs = 0;
        long lookedNs = 0;
        while (true) {
            sleep(Math.max(0, Math.min(LOOK_AROUND_NS, timeoutNs - waitedNs)));
            long beforeNs = nowNs;
            nowNs = System.nanoTime();
            waitedNs += Math.min(nowNs - beforeNs, 2 * LOOK_AROUND_NS);
            if (areAllAt(step)) {
                learnFrom(waitedNs);
                return;
            }
            fault.throwIfBroken();
            requireUndisturbed();
            peers.requireNoneClosed(step, what());
            if (waitedNs - lookedNs >= LOOK_AROUND_NS) {
                lookedNs = waitedNs;
                peers.requireAlive(step, what());
            }
            if (waitedNs >= timeoutNs + peers.graceNs()) {
                peers.requireNoneLate(step, what(), timeoutNs);
            }
        }
    }

    /** Spins longer after a short sleep, and less if others on a busy machine need the processor. */
    private void learnFrom(long sleptNs) {
        int turns = sleptNs < SHORT_SLEEP_NS ? 2 * spinTurns : spinTurns / 2;
        spinTurns = Math.min(mostSpinTurns, Math.max(FEWEST_TURNS, turns));
    }

    private void sleep(long timeoutNs) {
        memory.getAndAddInt(GroupDescriptor.SLEEPERS_OFFSET, 1);
        try {
            int bell = memory.getIntVolatile(GroupDescriptor.BELL_OFFSET);
            if (!areAllAt(step) && !fault.isBroken() && !closing) {
                memory.sleepWhile(GroupDescriptor.BELL_OFFSET, bell, timeoutNs);
            }
        } finally {
            memory.getAndAddInt(GroupDescriptor.SLEEPERS_OFFSET, -1);
        }
    }

    /** Fails if this group is closing, another rank has broken it, or this thread is interrupted. */
    void requireGoingOn() {
        fault.throwIfBroken();
        requireUndisturbed();
    }

    GroupFault fault() {
        return fault;
    }

    GroupPeers peers() {
        return peers;
    }

    long timeoutNs() {
        return timeoutNs;
    }

    private void requireUndisturbed() {
        requireOpen();
        if (Thread.currentThread().isInterrupted()) {
            throw fault.breakBecause(
                    ErrorCode.INTERRUPTED,
                    "a rank was interrupted in a call of the group: " + peers.describe(spec.rank()) + " call=" + what()
                            + "; make a new group");
        }
    }

    /** Compares the calls of all ranks after they have published the first step. */
    void requireSameCall() {
        for (int rank = 0; rank < lines.length; rank++) {
            int call = GroupDescriptor.call(rank, callNumber);
            if (memory.getLong(call + GroupDescriptor.CALL_KIND_OFFSET) != callKind
                    || memory.getLong(call + GroupDescriptor.CALL_BYTES_OFFSET) != callBytes
                    || memory.getLong(call + GroupDescriptor.CALL_NUMBER_OFFSET) != callNumber) {
                throw peers.mismatch(rank, callNumber);
            }
        }
    }

    /** Breaks the group for a failure in the middle of a call: the steps of this rank no longer correspond to those of the others. */
    RuntimeException failedIn(Throwable failure) {
        if (!closing && !fault.isBroken()) {
            fault.breakBecause(
                    ErrorCode.UNEXPECTED,
                    "a rank failed in a call of the process group: " + peers.describe(spec.rank()) + " key="
                            + spec.key() + " call=" + what() + " failure=" + failure
                            + "; check that rank's output, and restart all ranks");
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException exception ? exception : new IllegalStateException(failure);
    }

    /** Breaks the group for a thread of this rank that was interrupted while its call was queued. */
    void breakForInterrupt() {
        fault.breakBecause(
                ErrorCode.INTERRUPTED,
                "a rank was interrupted while a call was queued: " + peers.describe(spec.rank()) + " key=" + spec.key()
                        + "; make a new group");
    }

    /** Returns the call of this rank for people. */
    String what() {
        return CallKind.describe(callKind, callBytes) + " callNumber=" + callNumber;
    }

    /** Ends a wait of another thread soon, and refuses further calls. */
    void stop() {
        closing = true;
        ring();
    }

    /** Publishes that this rank has left. */
    void leave() {
        peers.close();
        ring();
    }
}
