package dev.larder.bench.daemon;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Times what a running daemon takes to load thousands of small files against what a pool of as many Python processes takes to bring
 * them to the same mount with {@code np.save(np.load())}, in turns; the pool is warm too. Prints one JSON object of seconds.
 */
final class SmallFilesBenchmark {
    private static final String DATASET = "small-files";
    private static final int WARM_UPS = 3;
    private static final double NANOS = 1e9;

    private final ControlClient daemon;
    private final LoadRequest request;
    private final List<Double> larder = new ArrayList<>();
    private final List<Double> python = new ArrayList<>();
    private final Map<Progress.Phase, List<Double>> phases = new EnumMap<>(Progress.Phase.class);
    private long files;

    private SmallFilesBenchmark(Path store, Path source, int workers) {
        this.daemon = ControlClient.at(store);
        LoadRequest.Source named = new LoadRequest.Source(
                DATASET, source.toAbsolutePath().normalize().toString());
        this.request = new LoadRequest(List.of(named), LoadOptions.none(), workers);
    }

    /** Takes store, source, rounds, workers, and the command line of the peer, which answers each line with its seconds. */
    public static void main(String[] arguments) throws Exception {
        SmallFilesBenchmark bench =
                new SmallFilesBenchmark(Path.of(arguments[0]), Path.of(arguments[1]), Integer.parseInt(arguments[3]));
        List<String> peer = List.of(arguments).subList(4, arguments.length);
        bench.run(Integer.parseInt(arguments[2]), peer);
        System.out.println(bench.json());
    }

    private void run(int rounds, List<String> command) throws IOException {
        Process peer = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (Writer requests = peer.outputWriter();
                BufferedReader answers = peer.inputReader()) {
            for (int round = -WARM_UPS; round < rounds; round++) {
                if (round == 0) {
                    larder.clear();
                    python.clear();
                    phases.clear();
                }
                load();
                requests.write("again\n");
                requests.flush();
                python.add(Double.parseDouble(answers.readLine()));
            }
        } finally {
            peer.destroy();
        }
    }

    private void load() {
        Map<Progress.Phase, Long> begun = new EnumMap<>(Progress.Phase.class);
        long start = System.nanoTime();
        Done done = daemon.load(request, progress -> begun.putIfAbsent(progress.phase(), System.nanoTime()));
        long end = System.nanoTime();
        larder.add((end - start) / NANOS);
        files = done.files();
        note(Progress.Phase.SCANNING, start, begun.getOrDefault(Progress.Phase.LOADING, end));
        note(Progress.Phase.LOADING, begun.getOrDefault(Progress.Phase.LOADING, end), publishing(begun, end));
        note(Progress.Phase.PUBLISHING, publishing(begun, end), end);
        daemon.evict(DATASET);
    }

    private static long publishing(Map<Progress.Phase, Long> begun, long end) {
        return begun.getOrDefault(Progress.Phase.PUBLISHING, end);
    }

    private void note(Progress.Phase phase, long from, long to) {
        phases.computeIfAbsent(phase, first -> new ArrayList<>()).add((to - from) / NANOS);
    }

    private String json() {
        String parts = phases.entrySet().stream()
                .map(phase -> "\"" + phase.getKey().name().toLowerCase(Locale.ROOT) + "\": " + list(phase.getValue()))
                .collect(Collectors.joining(", "));
        return "{\"files\": " + files + ", \"workers\": " + request.workers() + ", \"larder\": " + list(larder)
                + ", \"python\": " + list(python) + ", " + parts + "}";
    }

    private static String list(List<Double> seconds) {
        return seconds.stream()
                .map(value -> String.format(Locale.ROOT, "%.4f", value))
                .collect(Collectors.joining(", ", "[", "]"));
    }
}
