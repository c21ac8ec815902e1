package dev.larder.bench.client;

import dev.larder.bench.ProcessTime;
import dev.larder.bench.Quantiles;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.ArrayRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Times how long many processes take to open one dataset at the same moment, each then reading all of it, in turns with mapping the
 * same file without Larder; and what the daemon does meanwhile. Prints one JSON object.
 */
final class ManyReadersBenchmark {
    private final Path store;
    private final String dataset;
    private final List<Reader> readers = new ArrayList<>();
    private final List<Long> firstNs = new ArrayList<>();
    private final List<Long> openNs = new ArrayList<>();
    private final List<Long> mapNs = new ArrayList<>();

    private ManyReadersBenchmark(Path store, String dataset) {
        this.store = store;
        this.dataset = dataset;
    }

    /** Takes store, dataset, readers and rounds. */
    public static void main(String[] arguments) throws Exception {
        ManyReadersBenchmark bench = new ManyReadersBenchmark(Path.of(arguments[0]), arguments[1]);
        try {
            bench.run(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
        } finally {
            for (Reader reader : bench.readers) {
                reader.close();
            }
        }
    }

    private void run(int count, int rounds) throws IOException {
        ControlClient control = ControlClient.at(store);
        ArrayRow array = control.info(dataset).get(0);
        long pid = control.status().pid();
        for (int i = 0; i < count; i++) {
            readers.add(Reader.start(store, List.of(dataset)));
        }
        for (Reader reader : readers) {
            reader.line();
        }
        together("open", firstNs);
        together("map " + array.path(), new ArrayList<>());
        double cpuBefore = ProcessTime.seconds(pid);
        long startNs = System.nanoTime();
        for (int round = 0; round < rounds; round++) {
            together("open", openNs);
            together("map " + array.path(), mapNs);
        }
        double seconds = (System.nanoTime() - startNs) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "{\"readers\": %d, \"rounds\": %d, \"bytes\": %d, \"first\": %s, \"open\": %s, \"map\": %s, \"seconds\": %.1f,"
                        + " \"daemonCpuSeconds\": %.2f}%n",
                count,
                rounds,
                array.bytes(),
                Quantiles.of(firstNs).json(),
                Quantiles.of(openNs).json(),
                Quantiles.of(mapNs).json(),
                seconds,
                ProcessTime.seconds(pid) - cpuBefore);
    }

    /** Lets all begin at once; returns when all have read. */
    private void together(String command, List<Long> nanos) throws IOException {
        for (Reader reader : readers) {
            reader.tell(command);
        }
        for (Reader reader : readers) {
            nanos.add(Long.parseLong(reader.line()));
            reader.line();
        }
    }
}
