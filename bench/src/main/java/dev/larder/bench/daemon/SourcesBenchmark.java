package dev.larder.bench.daemon;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Times what a running daemon takes to load sources of several kinds, in turns with what they are compared with: other sources, commands,
 * and for folders of images a loop that reads one file after the other. Each is done twice in a row, and the second time counts. Prints one
 * JSON object for each.
 */
final class SourcesBenchmark {
    /** Ends the names of folders that are loaded as images. */
    private static final String IMAGES = "-images";

    /** Follows it where the files are only read. */
    private static final String LOOP = "-loop";

    /** Stands between the name of a peer and its command. */
    private static final String PEER = ":=";

    private final ControlClient daemon;
    private final int threads;
    private final Map<String, List<Double>> seconds = new LinkedHashMap<>();
    private final Map<String, Long> bytes = new LinkedHashMap<>();

    private SourcesBenchmark(ControlClient daemon, int threads) {
        this.daemon = daemon;
        this.threads = threads;
    }

    /**
     * Takes the store; how many rounds; how many threads; and, in the order of a round, sources as {@code NAME=PATH}, peers as {@code
     * NAME:=COMMAND}, where the command prints its seconds.
     */
    public static void main(String[] arguments) throws IOException {
        SourcesBenchmark benchmark =
                new SourcesBenchmark(ControlClient.at(Path.of(arguments[0])), Integer.parseInt(arguments[2]));
        int rounds = Integer.parseInt(arguments[1]);
        List<String> subjects = List.of(arguments).subList(3, arguments.length);
        for (int round = 0; round < rounds; round++) {
            for (String subject : subjects) {
                // Not counted: it gets the memory that the next one finds. A guest's memory that lay free is slow at
                // the first touch.
                benchmark.measure(subject, false);
                benchmark.measure(subject, true);
            }
        }
        benchmark.seconds.forEach((name, taken) -> System.out.printf(
                Locale.ROOT,
                "{\"name\": \"%s\", \"bytes\": %d, \"seconds\": %s}%n",
                name,
                benchmark.bytes.getOrDefault(name, 0L),
                taken));
    }

    private void measure(String subject, boolean isCounted) throws IOException {
        int peer = subject.indexOf(PEER);
        int source = subject.indexOf('=');
        if (peer >= 0 && peer < source) {
            note(subject.substring(0, peer), run(subject.substring(peer + PEER.length())), isCounted);
            return;
        }
        String name = subject.substring(0, source);
        String path = subject.substring(source + 1);
        if (name.endsWith(IMAGES + LOOP)) {
            note(name, readOneByOne(Path.of(path)), isCounted);
        } else {
            note(name, load(name, path, name.endsWith(IMAGES) ? As.IMAGES : As.ARRAYS), isCounted);
        }
    }

    private void note(String name, double taken, boolean isCounted) {
        if (isCounted) {
            seconds.computeIfAbsent(name, key -> new ArrayList<>()).add(taken);
        }
    }

    private double load(String name, String path, As as) {
        LoadRequest request = new LoadRequest(
                List.of(new LoadRequest.Source(name, path)), LoadOptions.none().withAs(as), threads);
        long start = System.nanoTime();
        daemon.load(request, progress -> {});
        double taken = secondsSince(start);
        bytes.put(
                name,
                daemon.list(name + "/", false).stream()
                        .mapToLong(ArrayRow::bytes)
                        .sum());
        daemon.evict(name);
        return taken;
    }

    private static double run(String command) throws IOException {
        Process process = new ProcessBuilder("bash", "-c", command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        try {
            if (process.waitFor() != 0) {
                throw new IOException("a peer failed: command=" + command);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return Double.parseDouble(said);
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
        return secondsSince(start);
    }

    private static double secondsSince(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
