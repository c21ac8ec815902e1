package dev.larder.distributed;

import dev.larder.distributed.internal.GroupFault;
import dev.larder.distributed.internal.GroupRegion;
import dev.larder.distributed.internal.GroupSpec;
import dev.larder.distributed.internal.GroupWorker;
import dev.larder.distributed.internal.NodeSubgroup;
import dev.larder.distributed.internal.NodesSpec;
import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.internal.RankNames;
import dev.larder.distributed.internal.Slots;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.Regions;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A group over a region that all ranks of one machine write, and over the exchange of their leaders if it spans machines.
 *
 * <p>A call runs in the thread of the caller if no other is running or queued; else the worker runs it after the earlier ones. The running
 * thread holds the lock. Closing stops the call, takes the lock, and only then unmaps the memory.
 */
final class SharedMemoryGroup implements ProcessGroup {
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

    /** The operation of calls that reduce nothing. */
    private static final ReduceOp NO_OP = ReduceOp.SUM;

    private final Regions regions;
    private final GroupSpec spec;
    private final Region region;
    private final GroupPeers peers;
    private final GroupControl control;
    private final Collectives collectives;
    private final GroupChecks checks;
    private final GroupWorker worker;
    private final int rank;
    private final int worldSize;
    private final @Nullable NodeJoin nodes;
    private final AtomicInteger subgroups = new AtomicInteger();
    private final ReentrantLock running = new ReentrantLock();
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicBoolean open = new AtomicBoolean(true);

    private SharedMemoryGroup(
            Regions regions,
            GroupSpec spec,
            Region region,
            GroupPeers peers,
            GroupControl control,
            @Nullable NodeJoin nodes) {
        this.regions = regions;
        this.spec = spec;
        this.region = region;
        this.peers = peers;
        this.control = control;
        this.nodes = nodes;
        this.rank = nodes == null ? spec.rank() : nodes.spec().rank();
        this.worldSize = nodes == null ? spec.worldSize() : nodes.spec().worldSize();
        this.collectives = nodes == null
                ? new Collectives(control, new Slots(region.memory(), spec), spec.sums())
                : nodes.collectives();
        this.checks = new GroupChecks(rank, worldSize);
        this.worker = new GroupWorker("larder-group-" + spec.key() + "-rank-" + rank);
    }

    /** Takes the place of a rank, and waits until all others have taken theirs. */
    static SharedMemoryGroup join(Regions regions, GroupSpec spec) {
        return join(regions, spec, null, null);
    }

    /** Joins the ranks of this node, and then those of the others. */
    static SharedMemoryGroup join(Regions regions, NodesSpec spec) {
        return join(regions, spec.local(), spec, null);
    }

    private static SharedMemoryGroup join(
            Regions regions, GroupSpec spec, @Nullable NodesSpec nodes, @Nullable Membership parents) {
        Region region = GroupRegion.open(regions, spec);
        try {
            GroupFault fault = new GroupFault(region.memory(), spec.rank());
            GroupPeers peers = new GroupPeers(region, spec, fault, parents);
            GroupRegion.requireSame(region, spec, fault);
            peers.join();
            GroupControl control = new GroupControl(region.memory(), spec, peers, fault);
            try {
                control.gather();
                NodeJoin joined = nodes == null
                        ? null
                        : NodeJoin.join(nodes, regions.identity(), control, new Slots(region.memory(), spec));
                return new SharedMemoryGroup(regions, spec, region, peers, control, joined);
            } catch (RuntimeException | Error e) {
                control.leave();
                throw e;
            }
        } catch (RuntimeException | Error e) {
            region.close();
            throw e;
        }
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int worldSize() {
        return worldSize;
    }

    @Override
    public long sentByteCount() {
        return nodes == null || nodes.bridge() == null ? 0 : nodes.bridge().sentByteCount();
    }

    @Override
    public void barrier() {
        meet(CallKind.BARRIER, 0);
    }

    @Override
    public Work barrierAsync() {
        return submit(CallKind.BARRIER, () -> collectives.meet(CallKind.BARRIER, 0));
    }

    @Override
    public void broadcast(Span data, int root) {
        call(CallKind.BROADCAST, data, data, NO_OP, root);
    }

    @Override
    public Work broadcastAsync(Span data, int root) {
        return callAsync(CallKind.BROADCAST, data, data, NO_OP, root);
    }

    @Override
    public void allReduce(Span data, ReduceOp op) {
        call(CallKind.ALL_REDUCE, data, data, op, CallKind.EVERY_RANK);
    }

    @Override
    public Work allReduceAsync(Span data, ReduceOp op) {
        return callAsync(CallKind.ALL_REDUCE, data, data, op, CallKind.EVERY_RANK);
    }

    @Override
    public void reduce(Span data, ReduceOp op, int root) {
        call(CallKind.REDUCE, data, data, op, root);
    }

    @Override
    public Work reduceAsync(Span data, ReduceOp op, int root) {
        return callAsync(CallKind.REDUCE, data, data, op, root);
    }

    @Override
    public void allGather(Span input, Span output) {
        call(CallKind.ALL_GATHER, input, output, NO_OP, CallKind.EVERY_RANK);
    }

    @Override
    public Work allGatherAsync(Span input, Span output) {
        return callAsync(CallKind.ALL_GATHER, input, output, NO_OP, CallKind.EVERY_RANK);
    }

    @Override
    public void gather(Span input, @Nullable Span output, int root) {
        call(CallKind.GATHER, input, checks.wholeAt(root, input, output), NO_OP, root);
    }

    @Override
    public Work gatherAsync(Span input, @Nullable Span output, int root) {
        return callAsync(CallKind.GATHER, input, checks.wholeAt(root, input, output), NO_OP, root);
    }

    @Override
    public void scatter(@Nullable Span input, Span output, int root) {
        call(CallKind.SCATTER, checks.wholeAt(root, output, input), output, NO_OP, root);
    }

    @Override
    public Work scatterAsync(@Nullable Span input, Span output, int root) {
        return callAsync(CallKind.SCATTER, checks.wholeAt(root, output, input), output, NO_OP, root);
    }

    @Override
    public void reduceScatter(Span input, Span output, ReduceOp op) {
        call(CallKind.REDUCE_SCATTER, input, output, op, CallKind.EVERY_RANK);
    }

    @Override
    public Work reduceScatterAsync(Span input, Span output, ReduceOp op) {
        return callAsync(CallKind.REDUCE_SCATTER, input, output, op, CallKind.EVERY_RANK);
    }

    /**
     * Runs a call here, or queues it behind others, and returns at its end. The parts are separate parameters, because an object or a
     * lambda would be an allocation in every call.
     */
    private void call(int kind, Span input, Span output, ReduceOp op, int root) {
        checks.require(kind, input, output, op, root);
        if (begin()) {
            try {
                run(kind, input, output, op, root);
            } finally {
                end();
            }
        } else {
            finish(submit(kind, () -> run(kind, input, output, op, root)));
        }
    }

    private Work callAsync(int kind, Span input, Span output, ReduceOp op, int root) {
        checks.require(kind, input, output, op, root);
        return submit(kind, () -> run(kind, input, output, op, root));
    }

    private void run(int kind, Span input, Span output, ReduceOp op, int root) {
        switch (kind) {
            case CallKind.BROADCAST -> collectives.broadcast(output, root);
            case CallKind.ALL_REDUCE, CallKind.REDUCE -> collectives.reduce(output, op, root);
            case CallKind.ALL_GATHER, CallKind.GATHER -> collectives.gather(input, output, root);
            case CallKind.SCATTER -> collectives.scatter(input, output, root);
            case CallKind.REDUCE_SCATTER -> collectives.reduceScatter(input, output, op);
            default -> throw new IllegalArgumentException("kind=" + kind);
        }
    }

    private void meet(int kind, long number) {
        if (begin()) {
            try {
                collectives.meet(kind, number);
            } finally {
                end();
            }
        } else {
            finish(submit(kind, () -> collectives.meet(kind, number)));
        }
    }

    /**
     * Starts a call in the thread of its caller; false if others come first, so that it has to be queued.
     *
     * <p>The count keeps the order of calls, which has to be the same on all ranks: a call raises it immediately, while the worker takes
     * the lock later. The lock makes {@link #close} wait for the running call.
     */
    private boolean begin() {
        if (!pending.compareAndSet(0, 1)) {
            return false;
        }
        running.lock();
        return true;
    }

    private void end() {
        running.unlock();
        pending.decrementAndGet();
    }

    private Work submit(int kind, Runnable call) {
        Work work = new Work(CallKind.name(kind));
        pending.incrementAndGet();
        try {
            worker.submit(() -> runNext(work, call));
        } catch (RuntimeException | Error e) {
            pending.decrementAndGet();
            throw e;
        }
        return work;
    }

    /** Waits for a queued call. An interrupt breaks the group, and so ends the earlier calls. */
    private void finish(Work work) {
        work.join(control::breakForInterrupt);
    }

    private void runNext(Work work, Runnable call) {
        running.lock();
        try {
            call.run();
            work.finish();
        } catch (RuntimeException | Error e) {
            work.fail(e);
        } finally {
            end();
        }
    }

    @Override
    public Optional<ProcessGroup> subgroup(int... ranks) {
        int place = checks.placeIn(ranks);
        int number = subgroups.incrementAndGet();
        meet(CallKind.SUBGROUP, GroupChecks.fingerprint(ranks));
        RankLayout layout =
                nodes == null ? spec.sums().among(ranks) : nodes.layout().among(ranks);
        if (nodes == null || layout.blocks() == 1) {
            if (place < 0) {
                return Optional.empty();
            }
            GroupSpec subgroup = spec.subgroup(number, place, ranks.length);
            return Optional.of(joinSubgroup(nodes == null ? subgroup.with(layout) : subgroup, null, ranks));
        }
        return subgroupOfNodes(nodes, number, place, layout, ranks);
    }

    /** The first rank of the subgroup listens for the leaders of the other nodes, and sends its address to all ranks of this group. */
    private Optional<ProcessGroup> subgroupOfNodes(
            NodeJoin all, int number, int place, RankLayout layout, int... ranks) {
        int host = layout.rank(0, 0);
        int[] port = new int[1 + NodeSubgroup.ADDRESS_WORDS];
        String key = spec.key() + ".sub" + number;
        try (NodeSubgroup way = new NodeSubgroup(all.spec().way(), all.host(), key, layout, place)) {
            if (place == host) {
                listen(way, port);
            }
            Span told = Span.of(port);
            call(CallKind.BROADCAST, told, told, NO_OP, ranks[host]);
            if (place < 0) {
                return Optional.empty();
            }
            way.goTo(port);
            int block = layout.blockOf(place);
            List<Integer> names = IntStream.range(0, layout.size(block))
                    .mapToObj(i -> layout.rank(block, i))
                    .toList();
            NodesSpec nodesSpec =
                    way.spec(spec, number, new RankNames(names, spec.place().label()));
            return Optional.of(joinSubgroup(nodesSpec.local(), nodesSpec, ranks));
        }
    }

    private void listen(NodeSubgroup way, int... port) {
        try {
            way.listen(port);
        } catch (RuntimeException | Error e) {
            throw control.failedIn(e);
        }
    }

    /** Breaks this group if this rank cannot join the subgroup: the others wait for it there. */
    private ProcessGroup joinSubgroup(GroupSpec subgroup, @Nullable NodesSpec subgroupNodes, int... ranks) {
        try {
            int[] places = nodes == null ? ranks : nodes.placesHere(ranks);
            return join(regions, subgroup, subgroupNodes, new Membership(peers, places));
        } catch (RuntimeException | Error e) {
            throw control.failedIn(e);
        }
    }

    @Override
    public void close() {
        if (!open.compareAndSet(true, false)) {
            return;
        }
        control.stop();
        worker.close(CLOSE_PATIENCE);
        boolean isLocked = lockInTime();
        try (nodes) {
            control.leave();
        } finally {
            region.close();
            if (isLocked) {
                running.unlock();
            }
        }
    }

    /**
     * Waits for the end of a call of another thread, even if this thread is interrupted. A call that does not end writes to private memory
     * after the region is closed, and fails then.
     */
    private boolean lockInTime() {
        Deadline deadline = Deadline.after(CLOSE_PATIENCE);
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return running.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return "ProcessGroup{" + spec.key() + " rank=" + rank + " of " + worldSize + "}";
    }
}
