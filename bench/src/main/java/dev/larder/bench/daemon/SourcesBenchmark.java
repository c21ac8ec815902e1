package dev.larder.bench.daemon;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Times what a running daemon takes to load sources of several kinds, in turns; and beside it, for folders of images, what a loop takes
 * that reads one file after the other. Prints one JSON object for each.
 */
final class SourcesBenchmark {
    /** Ends the names of folders that are loaded as images. */
    private static final String IMAGES = "-images";

    private SourcesBenchmark() {}

    /** Takes the store; how many rounds; how many threads; and sources as {@code NAME=PATH}. */
    public static void main(String[] arguments) throws IOException {
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
                String path = source.substring(name.length() + 1);
                LoadOptions options = LoadOptions.none().withAs(name.endsWith(IMAGES) ? As.IMAGES : As.ARRAYS);
                LoadRequest request = new LoadRequest(List.of(new LoadRequest.Source(name, path)), options, threads);
                long start = System.nanoTime();
                daemon.load(request, progress -> {});
                double taken = (System.nanoTime() - start) / 1e9;
                bytes.put(
                        name,
                        daemon.list(name + "/", false).stream()
                                .mapToLong(ArrayRow::bytes)
                                .sum());
                daemon.evict(name);
                double loop = name.endsWith(IMAGES) ? readOneByOne(Path.of(path)) : 0;
                if (round >= 0) {
                    seconds.computeIfAbsent(name, key -> new ArrayList<>()).add(taken);
                }
                if (round >= 0 && loop > 0) {
                    seconds.computeIfAbsent(name + "-loop", key -> new ArrayList<>())
                            .add(loop);
                    bytes.put(name + "-loop", bytes.get(name));
                }
            }
        }
        seconds.forEach((name, taken) -> System.out.printf(
                Locale.ROOT, "{\"name\": \"%s\", \"bytes\": %d, \"seconds\": %s}%n", name, bytes.get(name), taken));
    }

    /** Reads the files of a folder, sorted, into one buffer; returns the seconds, with those of finding the files. */
    private static double readOneByOne(Path folder) throws IOException {
        long start = System.nanoTime();
        List<Path> files;
        try (Stream<Path> walked = Files.walk(folder)) {
            files = walked.filter(Files::isRegularFile).sorted().toList();
        }
        long byteSize = 0;
        for (Path file : files) {
            byteSize += Files.size(file);
        }
        ByteBuffer all = ByteBuffer.allocateDirect(Math.toIntExact(byteSize));
        for (Path file : files) {
            all.put(Files.readAllBytes(file));
        }
        return (System.nanoTime() - start) / 1e9;
    }
}
