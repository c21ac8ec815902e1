package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Quantiles;
import dev.larder.bench.Rows;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Times a dataset of many small arrays: a load, a load of the unchanged files, opening it and reading one of its arrays, a random array
 * of the open dataset, and a list; and counts the mappings of its reader. Prints one JSON object.
 */
final class ManyArraysBenchmark {
    private static final String NAME = "arrays";

    private record Row(
            int arrays,
            double loadSeconds,
            Quantiles loadAgain,
            Quantiles openAndRead,
            Quantiles arrayOfOpen,
            Quantiles list,
            long maps) {}

    private final Larder larder;
    private final ControlClient daemon;
    private final int rounds;
    private final SplittableRandom random = new SplittableRandom(BenchStore.SEED);

    private ManyArraysBenchmark(Larder larder, Path store, int rounds) {
        this.larder = larder;
        this.daemon = ControlClient.at(store);
        this.rounds = rounds;
    }

    /** Arguments: the store of a running daemon, a folder of {@code make_data.py many-arrays}, and rounds. */
    public static void main(String[] arguments) throws Exception {
        Path store = Path.of(arguments[0]);
        try (Larder larder = Larder.connect(store)) {
            new ManyArraysBenchmark(larder, store, Integer.parseInt(arguments[2])).run(Path.of(arguments[1]));
        }
    }

    private void run(Path folder) throws Exception {
        int processors = Runtime.getRuntime().availableProcessors();
        LoadRequest request = new LoadRequest(
                List.of(new LoadRequest.Source(NAME, folder.toAbsolutePath().toString())), List.of(), processors);
        long startNs = System.nanoTime();
        daemon.load(request, progress -> {});
        double loadSeconds = (System.nanoTime() - startNs) / 1e9;
        Quantiles again = Quantiles.of(5, () -> daemon.load(request, progress -> {}));
        List<String> names;
        try (Dataset dataset = larder.dataset(NAME)) {
            names = List.copyOf(dataset.arrayNames());
        }
        Quantiles.of(rounds, () -> openAndRead(names)); // compiles
        Quantiles open = Quantiles.of(rounds, () -> openAndRead(names));
        Quantiles array;
        long maps;
        try (Dataset dataset = larder.dataset(NAME)) {
            array = Quantiles.of(100 * rounds, () -> read(dataset, names));
            maps = mappingsOfData();
        }
        Quantiles list =
                Quantiles.of(Math.min(rounds, 20), () -> daemon.info(NAME).size());
        Rows.print(new Row(names.size(), loadSeconds, again, open, array, list, maps));
        daemon.evict(NAME);
    }

    private long openAndRead(List<String> names) {
        try (Dataset dataset = larder.dataset(NAME)) {
            return read(dataset, names);
        }
    }

    private long read(Dataset dataset, List<String> names) {
        int number = random.nextInt(names.size());
        long found = dataset.array(names.get(number)).getLong(0);
        if (found != number) {
            throw new IllegalStateException("another array: name=" + names.get(number) + " value=" + found);
        }
        return found;
    }

    /** Counts the mappings that this process has of the store's data. */
    private long mappingsOfData() throws IOException {
        String data = larder.store().resolve("data") + "/";
        return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains(data))
                .count();
    }
}
