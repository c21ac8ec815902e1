package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Quantiles;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;

/**
 * Times what a dataset of many small arrays costs: loading it, opening it and reading one of its arrays, looking at a random array of
 * the open dataset, and listing it; and how many mappings its reader makes. Prints one JSON object.
 */
final class ManyArraysBenchmark {
    private static final String NAME = "arrays";

    private final Larder larder;
    private final ControlClient daemon;
    private final int rounds;
    private final SplittableRandom random = new SplittableRandom(BenchStore.SEED);

    private ManyArraysBenchmark(Larder larder, Path store, int rounds) {
        this.larder = larder;
        this.daemon = ControlClient.at(store);
        this.rounds = rounds;
    }

    /** Takes the store of a running daemon, a folder that {@code make_many_arrays.py} has made, and how many rounds. */
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
        List<String> names;
        try (Dataset dataset = larder.dataset(NAME)) {
            names = List.copyOf(dataset.arrayNames());
        }
        times(rounds, () -> openAndRead(names)); // until it is compiled
        Quantiles open = times(rounds, () -> openAndRead(names));
        Quantiles array;
        long maps;
        try (Dataset dataset = larder.dataset(NAME)) {
            array = times(100 * rounds, () -> read(dataset, names));
            maps = mappingsOfData();
        }
        Quantiles list = times(Math.min(rounds, 20), () -> daemon.info(NAME).size());
        System.out.printf(
                Locale.ROOT,
                "{\"arrays\": %d, \"loadSeconds\": %.3f, \"openAndRead\": %s, \"arrayOfOpen\": %s, \"list\": %s, \"maps\": %d}%n",
                names.size(),
                loadSeconds,
                open.json(),
                array.json(),
                list.json(),
                maps);
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

    private static Quantiles times(int count, Callable<?> work) throws Exception {
        List<Long> nanos = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long startNs = System.nanoTime();
            work.call();
            nanos.add(System.nanoTime() - startNs);
        }
        return Quantiles.of(nanos);
    }

    /** Counts the mappings that this process has of the store's data. */
    private long mappingsOfData() throws IOException {
        String data = larder.store().resolve("data") + "/";
        return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains(data))
                .count();
    }
}
