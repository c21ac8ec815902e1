package dev.larder.bench.daemon;

import com.google.gson.Gson;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Times loads of one large file by a running daemon in turns with {@code cp} to the same mount, the copying alone, with and without its
 * checksum, and a plain loop in C that copies in the same way. Prints one JSON object of seconds.
 */
final class IngestBenchmark {
    private static final long SPARE_BYTES = 64 << 20;

    private final Path mount;
    private final Path source;
    private final int threads;
    private final ControlClient daemon;
    private final List<String> plainCopy;
    private final Map<String, List<Double>> seconds = new TreeMap<>();

    private IngestBenchmark(Path mount, Path source, int threads, List<String> plainCopy) {
        this.mount = mount;
        this.source = source;
        this.threads = threads;
        this.plainCopy = plainCopy;
        this.daemon = ControlClient.at(mount.resolve("store"));
    }

    /**
     * Arguments: the folder of the daemon's {@code store}; the file; rounds; threads; and, if it could be built, the program
     * {@code copy_huge} and its way to copy.
     */
    public static void main(String[] arguments) throws Exception {
        IngestBenchmark bench = new IngestBenchmark(
                Path.of(arguments[0]),
                Path.of(arguments[1]).toAbsolutePath(),
                Integer.parseInt(arguments[3]),
                List.of(arguments).subList(4, arguments.length));
        int rounds = Integer.parseInt(arguments[2]);
        bench.round();
        bench.seconds.clear(); // memory that the machine had never touched, and code that was not compiled
        for (int round = 0; round < rounds; round++) {
            bench.round();
        }
        Map<String, Object> row = new TreeMap<>(bench.seconds);
        row.put("bytes", Files.size(bench.source));
        row.put("threads", bench.threads);
        System.out.println(new Gson().toJson(row));
    }

    private interface Work {
        void run() throws Exception;
    }

    private void round() throws Exception {
        Path copy = mount.resolve("copy");
        time("cp", () -> run(List.of("cp", source.toString(), copy.toString())));
        Files.delete(copy);
        if (!plainCopy.isEmpty()) {
            String way = plainCopy.get(1);
            List<String> words =
                    List.of(plainCopy.get(0), source.toString(), copy.toString(), Integer.toString(threads), way);
            time("plain", () -> run(words));
            Files.delete(copy);
        }
        LoadRequest request =
                new LoadRequest(List.of(new LoadRequest.Source("bench", source.toString())), List.of(), threads);
        time("larder", () -> daemon.load(request, progress -> {}));
        daemon.evict("bench");
        try (Store store = Store.open(
                new StoreLayout(mount.resolve("engine")), OptionalLong.of(Long.MAX_VALUE), Optional.empty())) {
            timeAlone("checksummed", store, CRC32C::new);
            timeAlone("unchecked", store, NoChecksum::new);
            store.removeAll(List.of());
        }
    }

    private static void run(List<String> words) throws IOException, InterruptedException {
        if (new ProcessBuilder(words).inheritIO().start().waitFor() != 0) {
            throw new IOException("program failed: " + words);
        }
    }

    private void timeAlone(String name, Store store, Supplier<Checksum> checksums) throws Exception {
        try (EngineRun run = new EngineRun(store, source)) {
            time(name, () -> run.copy(threads, checksums));
        }
    }

    private void time(String name, Work work) throws Exception {
        touchMemory();
        long start = System.nanoTime();
        work.run();
        seconds.computeIfAbsent(name, key -> new ArrayList<>()).add((System.nanoTime() - start) / 1e9);
    }

    /**
     * Touches as much memory as the next run uses, and frees it. Virtual machines give memory that is unused for some seconds to their
     * host, and the first touch after that takes ten times as long as the copy itself.
     */
    private void touchMemory() throws IOException {
        Posix posix = Posix.system();
        long byteSize = Files.size(source) + SPARE_BYTES;
        Path file = mount.resolve("touched");
        int descriptor = posix.openOrCreate(file, 0600);
        BulkIo.system().resize(descriptor, byteSize);
        HugePages.reserve(posix, descriptor, 0, byteSize);
        posix.close(descriptor);
        Files.delete(file);
    }
}
