package dev.larder.bench.daemon;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Times what a running daemon takes to load sources of several kinds, in turns. Prints one JSON object for each. */
final class SourcesBenchmark {
    private SourcesBenchmark() {}

    /** Takes the store; how many rounds; how many threads; and sources as {@code NAME=PATH}. */
    public static void main(String[] arguments) {
        ControlClient daemon = ControlClient.at(Path.of(arguments[0]));
        int rounds = Integer.parseInt(arguments[1]);
        int threads = Integer.parseInt(arguments[2]);
        Map<String, List<Double>> seconds = new LinkedHashMap<>();
        Map<String, Long> bytes = new LinkedHashMap<>();
        for (int round = -1;
                round < rounds;
                round++) { // the first is not counted: memory never touched, code not compiled
            for (String source : List.of(arguments).subList(3, arguments.length)) {
                String name = source.substring(0, source.indexOf('='));
                LoadRequest request = new LoadRequest(
                        List.of(new LoadRequest.Source(name, source.substring(name.length() + 1))), List.of(), threads);
                long start = System.nanoTime();
                daemon.load(request, progress -> {});
                double taken = (System.nanoTime() - start) / 1e9;
                bytes.put(
                        name,
                        daemon.list(name + "/", false).stream()
                                .mapToLong(ArrayRow::bytes)
                                .sum());
                daemon.evict(name);
                if (round >= 0) {
                    seconds.computeIfAbsent(name, key -> new ArrayList<>()).add(taken);
                }
            }
        }
        seconds.forEach((name, taken) -> System.out.printf(
                Locale.ROOT, "{\"name\": \"%s\", \"bytes\": %d, \"seconds\": %s}%n", name, bytes.get(name), taken));
    }
}
