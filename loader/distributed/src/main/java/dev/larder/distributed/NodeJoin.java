package dev.larder.distributed;

import dev.larder.distributed.NodeBridge.Wire;
import dev.larder.distributed.internal.GroupFault;
import dev.larder.distributed.internal.NodeCard;
import dev.larder.distributed.internal.NodeWatch;
import dev.larder.distributed.internal.NodesSpec;
import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.internal.Slots;
import dev.larder.distributed.internal.meeting.NodeLinks;
import dev.larder.distributed.transport.GroupTransport.Opening;
import dev.larder.distributed.transport.GroupTransport.Seat;
import dev.larder.distributed.transport.NodeTransport;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The join of the ranks of a node, which have joined each other, with those of other nodes: their leader meets the other leaders, connects
 * the transport, and sends the layout to the ranks of its node.
 *
 * @param spec of the group
 * @param layout of all ranks over the nodes
 * @param host the address at which other nodes reach this one
 * @param collectives over all nodes
 * @param bridge at the leader
 * @param watch at the leader
 */
record NodeJoin(
        NodesSpec spec,
        RankLayout layout,
        String host,
        NodesCollectives collectives,
        @Nullable NodeBridge bridge,
        @Nullable NodeWatch watch)
        implements AutoCloseable {

    private static final int HOST_WORDS = 64;
    private static final long LOOK_MS = 20;

    /** Joins; a failure breaks the group of this node, so that its other ranks get the reason. */
    static NodeJoin join(NodesSpec spec, String store, GroupControl control, Slots slots) {
        Collectives local = new Collectives(control, slots, spec.local().sums());
        return spec.local().rank() == 0
                ? lead(spec, store, control, slots, local)
                : follow(spec, control, slots, local);
    }

    private static NodeJoin follow(NodesSpec spec, GroupControl control, Slots slots, Collectives local) {
        int[] words = new int[spec.worldSize() + HOST_WORDS];
        local.broadcast(Span.of(words), 0);
        int[] blockOf = new int[spec.worldSize()];
        System.arraycopy(words, 0, blockOf, 0, blockOf.length);
        byte[] host = new byte[words[blockOf.length]];
        for (int i = 0; i < host.length; i++) {
            host[i] = (byte) words[blockOf.length + 1 + i];
        }
        RankLayout layout = RankLayout.ofBlocks(blockOf);
        Wire wire = new Wire(spec.windowByteSize(), null);
        return new NodeJoin(
                spec,
                layout,
                new String(host, StandardCharsets.UTF_8),
                new NodesCollectives(control, slots, spec.local(), layout, spec.node(), wire),
                null,
                null);
    }

    private static NodeJoin lead(NodesSpec spec, String store, GroupControl control, Slots slots, Collectives local) {
        Duration patience = spec.local().waits().toJoin();
        control.peers().goAbroad((int) Math.min(Integer.MAX_VALUE / 2, patience.toMillis()) + NodeBridge.GRACE_MS);
        @Nullable NodeWatch watch = null;
        @Nullable NodeTransport transport = null;
        @Nullable NodeBridge bridge = null;
        try {
            String host = spec.way().host();
            Seat seat = new Seat(spec.node(), spec.nodes(), host, patience);
            try (Opening opening = spec.way().transport().open(seat)) {
                NodeCard own = new NodeCard(
                        spec.local().place().ranks().stream()
                                .map(Integer::longValue)
                                .toList(),
                        ProcessHandle.current().pid(),
                        host,
                        store,
                        spec.way().transport().name(),
                        opening.address(),
                        spec.windowByteSize());
                NodeLinks links = spec.way().meet(own.text(), patience);
                List<NodeCard> cards =
                        links.cards().stream().map(NodeCard::parse).toList();
                String[] labels = labels(cards);
                watch = watch(spec, links, control, labels);
                RankLayout layout = NodeCard.layout(cards, spec.worldSize());
                transport =
                        connect(opening, cards.stream().map(NodeCard::address).toList(), control.fault(), patience);
                bridge = new NodeBridge(transport, control, layout, spec.node(), spec.windowByteSize(), labels);
                tellRanks(local, layout, host);
                control.peers().goAbroad(0);
                Wire wire = new Wire(spec.windowByteSize(), bridge);
                NodesCollectives collectives =
                        new NodesCollectives(control, slots, spec.local(), layout, spec.node(), wire);
                return new NodeJoin(spec, layout, host, collectives, bridge, watch);
            }
        } catch (LarderException e) {
            LarderException first = control.fault().breakBecause(e.code(), String.valueOf(e.getMessage()));
            closeAll(watch, bridge, transport);
            throw first;
        } catch (RuntimeException | Error e) {
            RuntimeException failure = control.failedIn(e);
            closeAll(watch, bridge, transport);
            throw failure;
        }
    }

    /** Closes the parts of a join that failed. A bridge closes its transport. */
    private static void closeAll(
            @Nullable NodeWatch watch, @Nullable NodeBridge bridge, @Nullable NodeTransport transport) {
        if (watch != null) {
            watch.close();
        }
        if (bridge != null) {
            bridge.close();
        } else if (transport != null) {
            transport.close();
        }
    }

    private static String[] labels(List<NodeCard> cards) {
        String[] labels = new String[cards.size()];
        for (int node = 0; node < labels.length; node++) {
            labels[node] = cards.get(node).label(node);
        }
        return labels;
    }

    private static NodeWatch watch(NodesSpec spec, NodeLinks links, GroupControl control, String[] labels) {
        return new NodeWatch(
                "larder-group-" + spec.local().key() + "-node-" + spec.node(),
                links,
                control.fault(),
                labels,
                () -> control.peers().requireAllAlive("none"));
    }

    /** Connects in a thread of its own, and gives up if a node is lost meanwhile. */
    private static NodeTransport connect(Opening opening, List<String> addresses, GroupFault fault, Duration patience) {
        CompletableFuture<NodeTransport> connected = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        NodeTransport transport = opening.connect(addresses);
                        if (!connected.complete(transport)) {
                            transport.close(); // the wait for it has ended
                        }
                    } catch (RuntimeException | Error e) {
                        connected.completeExceptionally(e);
                    }
                },
                "larder-group-connect");
        thread.setDaemon(true);
        thread.start();
        try {
            return await(connected, fault, patience);
        } catch (RuntimeException | Error e) {
            boolean isLate = !connected.cancel(true) && !connected.isCompletedExceptionally();
            if (isLate) {
                connected.join().close();
            }
            throw e;
        }
    }

    private static NodeTransport await(
            CompletableFuture<NodeTransport> connected, GroupFault fault, Duration patience) {
        long waitedMs = 0;
        while (true) {
            try {
                return connected.get(LOOK_MS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                fault.throwIfBroken();
                waitedMs += LOOK_MS;
                if (waitedMs > patience.toMillis() + NodeBridge.GRACE_MS) {
                    throw Failure.of(ErrorCode.DEADLINE, "the transport between nodes is not connected in time")
                            .with("timeout", patience)
                            .remedy("check the network between the nodes, and that no firewall is in the way");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while nodes connect")
                        .exception();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof LarderException failure
                        ? failure
                        : Failure.of(ErrorCode.UNEXPECTED, "the transport between nodes cannot connect")
                                .with("reason", e.getCause())
                                .cause(e)
                                .remedy("check the network between the nodes, and that no firewall is in the way");
            }
        }
    }

    private static void tellRanks(Collectives local, RankLayout layout, String host) {
        int[] words = new int[layout.worldSize() + HOST_WORDS];
        for (int rank = 0; rank < layout.worldSize(); rank++) {
            words[rank] = layout.blockOf(rank);
        }
        byte[] name = host.getBytes(StandardCharsets.UTF_8);
        words[layout.worldSize()] = name.length;
        for (int i = 0; i < name.length; i++) {
            words[layout.worldSize() + 1 + i] = name[i];
        }
        local.broadcast(Span.of(words), 0);
    }

    /** Returns the places in this node of the listed ranks that it has. */
    int[] placesHere(int... ranks) {
        List<Integer> places = new ArrayList<>();
        for (int rank : ranks) {
            if (layout.blockOf(rank) == spec.node()) {
                places.add(layout.placeOf(rank));
            }
        }
        return places.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
        if (bridge != null) {
            bridge.close();
        }
    }
}
