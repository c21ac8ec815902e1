package dev.larder.command.output;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.lock.LeaseTable;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A process that reads datasets, or the batches of a feed.
 *
 * @param command its command line
 * @param program the command line without details: for a JVM, its main class and arguments
 * @param datasets their names, sorted, each once
 * @param bytes the size of the versions that it leases
 * @param feeds the feeds whose batches it reads, sorted
 * @param run its run; null if it has none or is not visible
 */
public record ClientRow(
        long pid,
        int uid,
        String user,
        String command,
        String program,
        List<String> datasets,
        long bytes,
        List<String> feeds,
        @Nullable RunFacts run) {
    private static final int LEAST_COMMAND = 20;
    private static final int MOST_COMMAND = 100;

    public ClientRow {
        datasets = List.copyOf(datasets);
        feeds = List.copyOf(feeds);
    }

    /** Finds all processes that hold a lease or read a feed, by pid. The daemon, which leases versions to verify them, is no client. */
    public static List<ClientRow> of(StoreLayout store) {
        LeaseTable leases = LeaseTable.of(store);
        List<HeldVersion> held = leases.held();
        return of(held, leases.daemonPid(), FeedRow.of(store, held));
    }

    /** Returns a row for each process that holds a version or reads a feed, without the daemon. */
    public static List<ClientRow> of(List<HeldVersion> held, OptionalLong daemon, List<FeedRow> feeds) {
        Map<Long, List<HeldVersion>> byPid = new TreeMap<>();
        for (HeldVersion version : held) {
            version.pids()
                    .forEach(pid ->
                            byPid.computeIfAbsent(pid, key -> new ArrayList<>()).add(version));
        }
        daemon.ifPresent(byPid::remove);
        feeds.stream()
                .flatMap(feed -> feed.consumers().stream())
                .forEach(consumer -> byPid.putIfAbsent(consumer.pid(), List.of()));
        List<ClientRow> rows = new ArrayList<>();
        byPid.forEach((pid, versions) -> ProcessFacts.of(pid)
                .ifPresent(process -> rows.add(of(process, versions, feeds)))); // absent if it has just ended
        return rows;
    }

    private static ClientRow of(ProcessFacts process, List<HeldVersion> versions, List<FeedRow> feeds) {
        return new ClientRow(
                process.pid(),
                process.uid(),
                process.user(),
                process.command(),
                process.program(),
                versions.stream().map(HeldVersion::dataset).distinct().sorted().toList(),
                versions.stream().mapToLong(HeldVersion::storedBytes).sum(),
                feeds.stream()
                        .filter(feed -> feed.consumers().stream().anyMatch(consumer -> consumer.pid() == process.pid()))
                        .map(FeedRow::name)
                        .toList(),
                process.run());
    }

    /** Shortens a program in an argument, as of {@code python -c}, which may have any length. */
    private static String shortened(String line) {
        return line.codePointCount(0, line.length()) <= MOST_COMMAND
                ? line
                : line.substring(0, line.offsetByCodePoints(0, MOST_COMMAND - 1)) + "…";
    }

    /** Returns a table; it has columns for feeds and runs if there are any. */
    public static List<String> table(List<ClientRow> rows) {
        return table(rows, Integer.MAX_VALUE);
    }

    /** Returns a table, without the columns that do not fit into a terminal of this width. */
    public static List<String> table(List<ClientRow> rows, int width) {
        boolean hasFeeds = rows.stream().anyMatch(row -> !row.feeds.isEmpty());
        boolean hasRuns = rows.stream().anyMatch(row -> row.run != null);
        List<String> headings =
                new ArrayList<>(List.of(">PID", "USER", ">BYTES", "DATASETS", "FEEDS", "RUN", "COMMAND"));
        if (!hasFeeds) {
            headings.remove("FEEDS");
        }
        if (!hasRuns) {
            headings.remove("RUN");
        }
        Table table = Table.of(headings);
        for (ClientRow row : rows) {
            List<String> cells = new ArrayList<>(
                    List.of(Long.toString(row.pid), row.user, Units.size(row.bytes), String.join(",", row.datasets)));
            if (hasFeeds) {
                cells.add(String.join(",", row.feeds));
            }
            if (hasRuns) {
                cells.add(row.run == null ? "" : row.run.inWords());
            }
            cells.add(shortened(row.program));
            table.row(cells);
        }
        return table.lines(width, LEAST_COMMAND, List.of("USER", "COMMAND", "FEEDS", "RUN"));
    }
}
