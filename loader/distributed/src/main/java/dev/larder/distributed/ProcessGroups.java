package dev.larder.distributed;

import dev.larder.distributed.internal.GroupSpec;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.region.SharingStrategy;
import dev.larder.distributed.rendezvous.Rendezvous;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes process groups of the ranks of one machine, over memory that they share.
 *
 * <pre>{@code
 * try (ProcessGroup group = ProcessGroups.init(regions)) { // as larder launch or torchrun started this rank
 *     group.allReduce(Span.of(gradients), ReduceOp.AVG);
 * }
 * }</pre>
 */
public final class ProcessGroups {
    private static final int CHUNK_BYTE_SIZE = 512 * 1024;

    /** Some 50 microseconds. */
    private static final int MOST_SPIN_TURNS = 2000;

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /** All ranks of a run make the same groups in the same order, so these numbers tell the groups of a run apart. */
    private static final AtomicInteger MADE = new AtomicInteger();

    private final Regions regions;
    private final String key;
    private Duration timeout = PATIENCE;
    private Duration joinTimeout = PATIENCE;
    private int mostSpinTurns = MOST_SPIN_TURNS;
    private int chunkByteSize = CHUNK_BYTE_SIZE;
    private SharingStrategy strategy = SharingStrategy.FILE;

    private ProcessGroups(Regions regions, String key) {
        this.regions = regions;
        this.key = key;
    }

    /**
     * Makes the group of all ranks of this run, as its environment names them ({@code env://} of {@link Rendezvous}), within 5 minutes.
     * A process can do so again after it has closed the group; all ranks of a run do so equally often. The caller owns the group.
     */
    public static ProcessGroup init(Regions regions) {
        return init(regions, "env://", PATIENCE);
    }

    /** Makes the group of all ranks that meet at an address of {@link Rendezvous}, within {@code timeout} for each of both steps. */
    public static ProcessGroup init(Regions regions, String url, Duration timeout) {
        RendezvousResult meeting = Rendezvous.meet(url, timeout);
        if (meeting.nodes() > 1) {
            throw Failure.of(ErrorCode.REFUSED, "a process group cannot span nodes yet")
                    .with("nodes", meeting.nodes())
                    .remedy("start all ranks on one node");
        }
        return of(regions, meeting.key() + "." + MADE.incrementAndGet())
                .joinTimeout(timeout)
                .join(meeting.rank(), meeting.worldSize());
    }

    /**
     * Begins to describe a group.
     *
     * @param regions that the group uses and does not close
     * @param key which all its ranks have, and no other group of the store has or had; one path component that does not end in {@code
     *     .sub} and a number
     */
    public static ProcessGroups of(Regions regions, String key) {
        if (GroupSpec.isOfSubgroup(key)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "keys with this ending are reserved for subgroups")
                    .with("key", Names.printable(key))
                    .remedy("choose a key that does not end in .sub and a number");
        }
        return new ProcessGroups(regions, key);
    }

    /** Bounds each wait for other ranks; 5 minutes unless told otherwise. */
    public ProcessGroups timeout(Duration timeout) {
        this.timeout = timeout;
        return this;
    }

    /** Bounds the wait for all ranks to join; 5 minutes unless told otherwise. */
    public ProcessGroups joinTimeout(Duration timeout) {
        this.joinTimeout = timeout;
        return this;
    }

    /** Sets how much ranks hand over at a time; all ranks set the same multiple of 64, at least 64 for each rank. */
    public ProcessGroups chunkByteSize(int chunkByteSize) {
        this.chunkByteSize = chunkByteSize;
        return this;
    }

    /** Sets how often a rank looks for the others at most before it sleeps, where the processors suffice for all ranks. */
    ProcessGroups mostSpinTurns(int turns) {
        this.mostSpinTurns = turns;
        return this;
    }

    /** Sets how the memory is shared; {@link SharingStrategy#FILE} unless told otherwise. */
    public ProcessGroups strategy(SharingStrategy strategy) {
        this.strategy = strategy;
        return this;
    }

    /**
     * Becomes a rank of the group, and waits until all the others have. The caller owns the group.
     *
     * @throws dev.larder.error.LarderException DEADLINE with the ranks that are missing; REFUSED where somebody is this rank, or was;
     *     or where a group of this key is running; BAD_INPUT where ranks disagree about the group
     */
    public ProcessGroup join(int rank, int worldSize) {
        return SharedMemoryGroup.join(
                regions,
                new GroupSpec(
                        key,
                        rank,
                        worldSize,
                        chunkByteSize,
                        strategy,
                        new GroupSpec.Waits(mostSpinTurns, timeout, joinTimeout)));
    }
}
