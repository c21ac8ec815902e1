package dev.larder.bench.daemon;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.layout.CountersDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import dev.larder.testing.Footprint;
import dev.larder.testing.ProtocolSiege;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Sends spoiled messages to a daemon and fails if one hangs, ends the daemon, or leaves something behind. The same seed sends the same
 * messages. The daemon runs in this process, or serves the store of {@code --store}.
 */
final class ProtocolFuzz {
    private static final long CAPACITY_BYTES = 64L << 20;
    private static final int ELEMENTS = 100_000;
    private static final long PORTION = 100_000;
    private static final long WARM_UP = 20_000;
    private static final int SLACK = 6;
    private static final String REFUSAL = "message is malformed";
    private static final long HEAP_SLACK_BYTES = 16L << 20;
    private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(30);

    private final StoreLayout store;
    private final Path source;
    private final long pid;

    private ProtocolFuzz(Path store, Path source) {
        this.store = new StoreLayout(store);
        this.source = source;
        this.pid = ControlClient.at(store).status().pid();
    }

    /** Arguments: {@code --frames N}, {@code --seed S} and {@code --store DIR}, all optional. */
    public static void main(String[] arguments) throws Exception {
        long frames = Long.parseLong(option(arguments, "--frames", "1000000"));
        long seed = Long.parseLong(option(arguments, "--seed", "1"));
        String running = option(arguments, "--store", "");
        Path work = Files.createTempDirectory(Path.of("/dev/shm"), "larder-fuzz-" + mark());
        try {
            Path source = writeSource(work.resolve("x.npy"));
            if (!running.isEmpty()) {
                new ProtocolFuzz(Path.of(running), source).run(frames, seed);
                return;
            }
            try (Daemon daemon =
                    Daemon.start(new DaemonConfig(work.resolve("store"), OptionalLong.of(CAPACITY_BYTES), 2))) {
                new ProtocolFuzz(daemon.layout().root(), source).run(frames, seed);
            }
        } finally {
            Files.deleteIfExists(work.resolve("x.npy"));
            Files.deleteIfExists(work);
        }
    }

    private static String option(String[] arguments, String name, String otherwise) {
        int at = List.of(arguments).lastIndexOf(name);
        return at < 0 || at + 1 == arguments.length ? otherwise : arguments[at + 1];
    }

    /** Returns the mark of a run of ops/test, which looks for it in leftovers. */
    private static String mark() {
        String run = System.getenv("LARDER_TEST_RUN");
        return run == null ? "" : run + "-";
    }

    private static Path writeSource(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(NpyHeader.of(Dtype.parse("|u1"), Order.C, ELEMENTS).encode(64));
            channel.write(ByteBuffer.allocate(ELEMENTS));
        }
        return file;
    }

    private void run(long frames, long seed) throws IOException, InterruptedException {
        load();
        siege(seed, Math.min(WARM_UP, frames));
        settle(new Footprint(Long.MAX_VALUE / 2, Long.MAX_VALUE / 2));
        Footprint before = Footprint.of(pid);
        long heapBefore = Footprint.heapBytes();
        long portions = Math.max(1, (frames + PORTION - 1) / PORTION);
        for (long portion = 1; portion <= portions; portion++) {
            System.out.println("seed=" + (seed + portion) + " " + siege(seed + portion, Math.min(PORTION, frames)));
        }
        settle(before);
        long heapAfter = Footprint.heapBytes();
        System.out.printf(
                "before=%s after=%s heapBefore=%d heapAfter=%d%n", before, Footprint.of(pid), heapBefore, heapAfter);
        if (pid == ProcessHandle.current().pid() && heapAfter > heapBefore + HEAP_SLACK_BYTES) {
            throw new AssertionError("the heap has grown");
        }
        // malformed messages are expected; anything else is worth a look
        ControlClient.at(store.root()).errors().stream()
                .filter(error -> !error.message().contains(REFUSAL))
                .forEach(error -> System.out.println(error.count() + " times: " + error.message()));
    }

    private void load() {
        LoadRequest.Source named = new LoadRequest.Source(ProtocolSiege.STEADY, source.toString());
        ControlClient.at(store.root()).load(new LoadRequest(List.of(named), List.of(), 0), ProgressListener.NONE);
    }

    private ProtocolSiege.Outcome siege(long seed, long frames) throws IOException, InterruptedException {
        return new ProtocolSiege(store.root(), source, seed, frames).run();
    }

    /** Waits until the attackers have left nothing. */
    private void settle(Footprint limit) throws IOException, InterruptedException {
        long startNs = System.nanoTime();
        while (!isSettled(limit)) {
            if (System.nanoTime() - startNs > SETTLE_NS) {
                throw new AssertionError("something was left behind: was=" + limit + " is=" + Footprint.of(pid)
                        + " incoming=" + incoming() + " counters="
                        + CountersDescriptor.read(store.counters()).counters());
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private boolean isSettled(Footprint limit) throws IOException {
        Long connections = CountersDescriptor.read(store.counters()).counters().get("connections");
        return incoming() == 0
                && Long.valueOf(0).equals(connections)
                && Footprint.of(pid).isAtMost(limit, SLACK);
    }

    private long incoming() throws IOException {
        try (Stream<Path> entries = Files.list(store.incoming())) {
            return entries.count();
        }
    }
}
