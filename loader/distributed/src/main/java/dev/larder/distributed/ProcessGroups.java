package dev.larder.distributed;

import dev.larder.distributed.internal.GroupSpec;
import dev.larder.distributed.internal.NodesSpec;
import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.internal.RankNames;
import dev.larder.distributed.internal.Transports;
import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.NodeLinks;
import dev.larder.distributed.internal.meeting.NodeMeeting;
import dev.larder.distributed.internal.meeting.RankSeat;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.rendezvous.Rendezvous;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.distributed.transport.GroupTransport;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Creates process groups: of ranks on one machine, in shared memory, and of ranks on several, with a transport between them.
 *
 * <pre>{@code
 * try (ProcessGroup group = ProcessGroups.init(regions)) { // as larder launch or torchrun started this rank
 *     group.allReduce(Span.of(gradients), ReduceOp.AVG);
 * }
 * }</pre>
 */
public final class ProcessGroups {
    private static final int CHUNK_BYTE_SIZE = 512 * 1024;

    /** Long enough for a fast network, short enough for several windows in progress. */
    private static final int WINDOW_BYTE_SIZE = 1024 * 1024;

    /** The variable with the number of ranks of each node whose order of sums one machine repeats, such as 2,2. */
    private static final String SUM_LAYOUT_VARIABLE = "LARDER_SUM_LAYOUT";

    /** About 50 microseconds. */
    private static final int MOST_SPIN_TURNS = 2000;

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /**
     * The number of groups of this process. All ranks of a run make the same groups in the same order, so the number identifies a group.
     */
    private static final AtomicInteger MADE = new AtomicInteger();

    private final Regions regions;
    private final String key;
    private Duration timeout = PATIENCE;
    private Duration joinTimeout = PATIENCE;
    private int mostSpinTurns = MOST_SPIN_TURNS;
    private int chunkByteSize = CHUNK_BYTE_SIZE;
    private int windowByteSize = WINDOW_BYTE_SIZE;
    private @Nullable RankLayout sums;
    private @Nullable GroupTransport transport;

    private ProcessGroups(Regions regions, String key) {
        this.regions = regions;
        this.key = key;
    }

    /**
     * Creates the group of all ranks of this run, as its environment describes them ({@code env://} of {@link Rendezvous}), within 5
     * minutes. A process can do so again after it has closed the group; all ranks of a run do so equally often. The caller owns the group.
     */
    public static ProcessGroup init(Regions regions) {
        return init(regions, "env://", PATIENCE);
    }

    /** Creates the group of all ranks that meet at an address of {@link Rendezvous}, within {@code timeout} for each of both steps. */
    public static ProcessGroup init(Regions regions, String url, Duration timeout) {
        RendezvousResult meeting = Rendezvous.meet(url, timeout);
        ProcessGroups groups =
                of(regions, meeting.key() + "." + MADE.incrementAndGet()).joinTimeout(timeout);
        String sums = System.getenv().getOrDefault(SUM_LAYOUT_VARIABLE, "");
        if (!sums.isBlank() && meeting.nodes() == 1) {
            groups.sumLayout(sizes(sums));
        }
        return meeting.nodes() == 1
                ? groups.join(meeting.rank(), meeting.worldSize())
                : groups.join(meeting, NodeMeeting.place(System.getenv()), RunSecret.ofEnvironment(System.getenv()));
    }

    private static int[] sizes(String text) {
        try {
            return Arrays.stream(text.split(",", -1))
                    .mapToInt(size -> Integer.parseInt(size.strip()))
                    .toArray();
        } catch (NumberFormatException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "the layout of sums is no list of numbers")
                    .with(SUM_LAYOUT_VARIABLE, text)
                    .remedy("name the ranks of each node, such as " + SUM_LAYOUT_VARIABLE + "=2,2");
        }
    }

    /**
     * Begins to describe a group.
     *
     * @param regions that the group uses and does not close
     * @param key of all its ranks, and of no other group of the store, now or before: one path component that does not end in {@code .sub}
     *     and a number
     */
    public static ProcessGroups of(Regions regions, String key) {
        if (GroupSpec.isOfSubgroup(key)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "keys with this ending are reserved for subgroups")
                    .with("key", Names.printable(key))
                    .remedy("choose a key that does not end in .sub and a number");
        }
        return new ProcessGroups(regions, key);
    }

    /** Limits each wait for other ranks; 5 minutes by default. */
    public ProcessGroups timeout(Duration timeout) {
        this.timeout = timeout;
        return this;
    }

    /** Limits the wait for all ranks to join; 5 minutes by default. */
    public ProcessGroups joinTimeout(Duration timeout) {
        this.joinTimeout = timeout;
        return this;
    }

    /** Sets the size of a chunk between ranks; all ranks set the same multiple of 64, at least 64 for each rank. */
    public ProcessGroups chunkByteSize(int chunkByteSize) {
        this.chunkByteSize = chunkByteSize;
        return this;
    }

    /** Sets the most looks of a rank at the others before it sleeps, if there is a processor for each rank. */
    ProcessGroups mostSpinTurns(int turns) {
        this.mostSpinTurns = turns;
        return this;
    }

    /**
     * Sums as if the ranks were on nodes of these sizes: inside each block of ranks in the order of their numbers, rounded to the type, and
     * then over the blocks in their order. So one machine gets the same bits as several. All ranks set the same. By default all ranks are
     * one block. A group that spans nodes always has a block for each of them.
     */
    public ProcessGroups sumLayout(int... ranksOfBlocks) {
        this.sums = RankLayout.ofSizes(ranksOfBlocks);
        return this;
    }

    /** Sets the size of a window between nodes; all nodes set the same multiple of 64. */
    ProcessGroups windowByteSize(int windowByteSize) {
        this.windowByteSize = windowByteSize;
        return this;
    }

    /** Sets the transport between nodes instead of the one on the class path. */
    ProcessGroups transport(GroupTransport transport) {
        this.transport = transport;
        return this;
    }

    /**
     * Joins a group that spans nodes, and waits until all ranks have joined. Ranks of this node use shared memory. The first rank of each
     * node uses the {@link GroupTransport} of the class path. The caller owns the group.
     *
     * @param seat of this rank
     * @param place {@code HOST:PORT} of node 0, where the first ranks of the nodes meet
     * @param secret of the run; empty on the loopback interface
     * @throws dev.larder.error.LarderException as {@link #join(int, int)}; REFUSED if there is no transport, two nodes share a store, or a
     *     node has another secret
     */
    public ProcessGroup join(RendezvousResult seat, String place, String secret) {
        return join(seat, Endpoint.parse(place), secret.isEmpty() ? RunSecret.NONE : RunSecret.of(secret));
    }

    private ProcessGroup join(RendezvousResult seat, Endpoint place, RunSecret secret) {
        if (sums != null) {
            throw new IllegalArgumentException("a group that spans nodes has their layout of sums");
        }
        int first = seat.rank() - seat.localRank();
        List<Integer> ranks =
                IntStream.range(first, first + seat.localWorldSize()).boxed().toList();
        GroupSpec local =
                spec(seat.localRank(), seat.localWorldSize()).with(new RankNames(ranks, " node=" + seat.node()));
        NodesSpec spec = new NodesSpec(
                local, seat.node(), seat.nodes(), seat.worldSize(), new RunWay(this, seat, place, secret));
        return SharedMemoryGroup.join(regions, spec);
    }

    /** The meeting of the leaders of the nodes of a run. */
    private record RunWay(ProcessGroups groups, RendezvousResult seat, Endpoint place, RunSecret secret)
            implements NodesSpec.Way {

        @Override
        public GroupTransport transport() {
            GroupTransport given = groups.transport;
            return given == null ? Transports.find() : given;
        }

        @Override
        public String host() {
            return NodeMeeting.ownAddress(place, seat.node());
        }

        @Override
        public int windowByteSize() {
            return groups.windowByteSize;
        }

        @Override
        public NodeLinks meet(String card, Duration timeout) {
            return NodeMeeting.meet(
                    place, RankSeat.ofNode(seat.node(), seat.nodes(), groups.key, secret, card), timeout);
        }
    }

    /**
     * Joins the group as a rank, and waits until all ranks have joined. The caller owns the group.
     *
     * @throws dev.larder.error.LarderException DEADLINE with the missing ranks; REFUSED if another process is this rank, or was, or if a
     *     group of this key is running; BAD_INPUT if the ranks differ about the group
     */
    public ProcessGroup join(int rank, int worldSize) {
        return SharedMemoryGroup.join(regions, spec(rank, worldSize));
    }

    private GroupSpec spec(int rank, int worldSize) {
        GroupSpec spec = new GroupSpec(
                key, rank, worldSize, chunkByteSize, new GroupSpec.Waits(mostSpinTurns, timeout, joinTimeout));
        return sums == null ? spec : spec.with(sums);
    }
}
