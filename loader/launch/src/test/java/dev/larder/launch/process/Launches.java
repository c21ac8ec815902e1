package dev.larder.launch.process;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Starts shells as ranks, and keeps what is heard of them. */
final class Launches implements LaunchListener {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Map<Integer, List<String>> lines = new ConcurrentHashMap<>();
    private final List<Integer> ports = new CopyOnWriteArrayList<>();
    private final List<String> events = new CopyOnWriteArrayList<>();

    /** Plans ranks that all run one script; short of patience. */
    static LaunchPlan plan(int worldSize, String script) {
        return LaunchPlan.of(worldSize, List.of("sh", "-c", script)).withGrace(Duration.ofSeconds(2));
    }

    /** Runs a plan to its end. */
    LaunchResult run(LaunchPlan plan) {
        try (Launcher launcher = Launcher.start(plan, this)) {
            return launcher.join(PATIENCE);
        }
    }

    @Override
    public void attemptStarts(int attempt, int masterPort) {
        ports.add(masterPort);
    }

    @Override
    public void lines(int rank, List<OutputLine> read) {
        lines.computeIfAbsent(rank, unused -> Collections.synchronizedList(new ArrayList<>()))
                .addAll(read.stream().map(OutputLine::text).toList());
    }

    @Override
    public void rankEnded(int attempt, RankResult end) {
        events.add(attempt + "/" + end.rank() + " " + end.cause().text());
    }

    @Override
    public void othersAreEnded(int attempt, int failedRank) {
        events.add(attempt + " failed by " + failedRank);
    }

    /** Returns what a rank wrote in all attempts. */
    List<String> linesOf(int rank) {
        List<String> written = lines.getOrDefault(rank, List.of());
        synchronized (written) {
            return List.copyOf(written);
        }
    }

    /** Returns the number that follows a word in what a rank wrote; null where it has not written it. */
    @Nullable
    Long number(int rank, String word) {
        return linesOf(rank).stream()
                .filter(line -> line.startsWith(word + " "))
                .map(line -> Long.valueOf(line.substring(word.length() + 1)))
                .findFirst()
                .orElse(null);
    }

    List<Integer> ports() {
        return ports;
    }

    List<String> events() {
        return events;
    }
}
