package dev.larder.bench.distributed;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Times collectives among JVMs of one machine: starts as many ranks as it is told, one number after the other, and lets the first of
 * each print rows of JSON with {@code engine}, {@code what}, {@code ranks}, {@code bytes}, {@code bestUs}, {@code medianUs} and
 * {@code cpuUs} (of one rank's thread, for a call). Rows of other engines have the same keys.
 */
final class CollectivesBenchmark {
    private static final long PATIENCE_S = 600;

    private CollectivesBenchmark() {}

    /** Takes the store, the number of trials, and numbers of ranks. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        for (String worldSize : List.of(arguments).subList(2, arguments.length)) {
            run(Path.of(arguments[0]), arguments[1], Integer.parseInt(worldSize));
        }
    }

    private static void run(Path store, String trials, int worldSize) throws IOException, InterruptedException {
        String key = "bench-" + ProcessHandle.current().pid() + "-" + worldSize;
        List<Process> ranks = new ArrayList<>();
        try {
            for (int rank = 0; rank < worldSize; rank++) {
                ranks.add(start(store.toString(), key, Integer.toString(rank), Integer.toString(worldSize), trials));
            }
            for (Process rank : ranks) {
                if (!rank.waitFor(PATIENCE_S, TimeUnit.SECONDS) || rank.exitValue() != 0) {
                    throw new IOException("a rank has failed: pid=" + rank.pid());
                }
            }
        } finally {
            ranks.forEach(Process::destroyForcibly);
        }
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:MaxDirectMemorySize=512m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                CollectivesRank.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).inheritIO().start();
    }
}
