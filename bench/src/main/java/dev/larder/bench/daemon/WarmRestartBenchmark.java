package dev.larder.bench.daemon;

import dev.larder.bench.ProcessTime;
import dev.larder.bench.Quantiles;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Times how long a daemon that was killed takes from its start to its first answer, with a store full of arrays to take over, against
 * a start on an empty store. The daemon that takes over must know all that was published. Prints one JSON object.
 */
final class WarmRestartBenchmark {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_MS = 2;

    private final Path store;
    private final Path sources;
    private final List<String> command;
    private final List<Double> cpuSeconds = new ArrayList<>();
    private Process daemon;

    private WarmRestartBenchmark(Path store, Path sources, List<String> command) throws IOException {
        this.store = store;
        this.sources = sources;
        this.command = command;
        this.daemon = start();
    }

    /** Takes store, an empty folder for sources, datasets, arrays of each, bytes of each, rounds, and the command of the daemon. */
    public static void main(String[] arguments) throws Exception {
        WarmRestartBenchmark bench = new WarmRestartBenchmark(
                Path.of(arguments[0]),
                Path.of(arguments[1]).toAbsolutePath(),
                List.of(arguments).subList(6, arguments.length));
        try {
            bench.run(
                    Integer.parseInt(arguments[2]),
                    Integer.parseInt(arguments[3]),
                    Long.parseLong(arguments[4]),
                    Integer.parseInt(arguments[5]));
        } finally {
            bench.daemon.destroyForcibly();
        }
    }

    private void run(int datasets, int arrays, long bytes, int rounds) throws Exception {
        awaitAnswer();
        List<Long> emptyNs = restarts(rounds, Optional.empty());
        double emptyCpuSeconds = medianCpuSeconds();
        long startNs = System.nanoTime();
        load(datasets, arrays, bytes);
        double loadSeconds = (System.nanoTime() - startNs) / 1e9;
        DaemonStatus status = ControlClient.at(store).status();
        List<Long> warmNs = restarts(rounds, Optional.of(status));
        System.out.printf(
                Locale.ROOT,
                "{\"datasets\": %d, \"arrays\": %d, \"usedBytes\": %d, \"loadSeconds\": %.2f, \"emptyStart\": %s, \"warmStart\": %s, \"emptyCpuSeconds\": %.2f, \"warmCpuSeconds\": %.2f}%n",
                datasets,
                status.arrays(),
                status.usedBytes(),
                loadSeconds,
                Quantiles.of(emptyNs).json(),
                Quantiles.of(warmNs).json(),
                emptyCpuSeconds,
                medianCpuSeconds());
    }

    /** Returns what the starts since the last question took of the processors: that does not depend on what else the machine does. */
    private double medianCpuSeconds() {
        double median = cpuSeconds.stream()
                .sorted()
                .skip(cpuSeconds.size() / 2)
                .findFirst()
                .orElse(0.0);
        cpuSeconds.clear();
        return median;
    }

    private List<Long> restarts(int rounds, Optional<DaemonStatus> expected) throws Exception {
        List<Long> nanos = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            daemon.destroyForcibly().waitFor();
            long startNs = System.nanoTime();
            daemon = start();
            awaitAnswer();
            nanos.add(System.nanoTime() - startNs);
            cpuSeconds.add(ProcessTime.seconds(daemon.pid()));
            DaemonStatus found = ControlClient.at(store).status();
            if (expected.isPresent()
                    && (found.arrays() != expected.get().arrays()
                            || found.usedBytes() != expected.get().usedBytes())) {
                throw new IllegalStateException("not all was taken over: was=" + expected.get() + " is=" + found);
            }
        }
        return nanos;
    }

    private Process start() throws IOException {
        return new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private void awaitAnswer() throws InterruptedException {
        long startNs = System.nanoTime();
        while (true) {
            try {
                ControlClient.at(store).info();
                return;
            } catch (LarderException notYet) {
                if (System.nanoTime() - startNs > PATIENCE_NS || !daemon.isAlive()) {
                    throw notYet;
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        }
    }

    /** Loads sources that are holes on disk, and real bytes once they are in the store; each array has a file of its own. */
    private void load(int datasets, int arrays, long bytes) throws IOException {
        List<LoadRequest.Source> named = new ArrayList<>();
        for (int dataset = 0; dataset < datasets; dataset++) {
            Path folder = Files.createDirectory(sources.resolve("warm-" + dataset));
            for (int array = 0; array < arrays; array++) {
                writeHole(folder.resolve("a" + array + ".npy"), bytes);
            }
            named.add(new LoadRequest.Source("warm-" + dataset, folder.toString()));
        }
        LoadOptions unpacked = LoadOptions.none().withPackBelowBytes(0);
        ControlClient.at(store)
                .patientFor(Duration.ofMinutes(5))
                .load(new LoadRequest(named, unpacked, 0), ProgressListener.NONE);
    }

    private static void writeHole(Path file, long bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(NpyHeader.of(Dtype.parse("|u1"), Order.C, bytes).encode(64));
            channel.write(ByteBuffer.wrap(new byte[1]), channel.size() + bytes - 1);
        }
    }
}
