package dev.larder.distributed;

import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.region.FolderRegions;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.rendezvous.RendezvousResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;

/** Threads as ranks of several nodes, each node with a folder of regions of its own. Closing it lets them end. */
final class NodeGang implements AutoCloseable {
    private final Path folder;
    private final String key;
    private final RankLayout layout;
    private final UnaryOperator<ProcessGroups> settings;
    private final int port = freePort();
    private IntUnaryOperator way = port -> port;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    NodeGang(Path folder, String key, UnaryOperator<ProcessGroups> settings, int... ranksOfNodes) {
        this.folder = folder;
        this.key = key;
        this.settings = settings;
        this.layout = RankLayout.ofSizes(ranksOfNodes);
    }

    /** Leads nodes other than the first to what listens in place of others. */
    NodeGang by(IntUnaryOperator way) {
        this.way = way;
        return this;
    }

    static int freePort() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets all ranks join, do their part and leave; returns what each has, and throws what the first one has thrown. */
    <T> List<T> run(Gang.Part<T> part) {
        List<Future<T>> futures = new ArrayList<>();
        for (int rank = 0; rank < layout.worldSize(); rank++) {
            int own = rank;
            futures.add(threads.submit(() -> play(own, layout.blockOf(own), part)));
        }
        return futures.stream().map(Gang::await).toList();
    }

    /** Lets all ranks do their part, and returns what each has thrown. */
    List<Optional<RuntimeException>> failures(Gang.Part<?> part) {
        return run(group -> {
            try {
                part.play(group);
                return Optional.empty();
            } catch (RuntimeException e) {
                return Optional.of(e);
            }
        });
    }

    private <T> T play(int rank, int node, Gang.Part<T> part) throws Exception {
        RendezvousResult seat = new RendezvousResult(
                rank, layout.worldSize(), layout.placeOf(rank), layout.size(node), node, layout.blocks(), key);
        try (Regions regions = FolderRegions.in(folder.resolve("node-" + node));
                ProcessGroup group = settings.apply(
                                ProcessGroups.of(regions, key).transport(new SocketTransport(way)))
                        .join(seat, "127.0.0.1:" + (node == 0 ? port : way.applyAsInt(port)), "")) {
            return part.play(group);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            if (!threads.awaitTermination(Gang.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("ranks do not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
