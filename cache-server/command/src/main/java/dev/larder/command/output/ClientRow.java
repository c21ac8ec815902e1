package dev.larder.command.output;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.store.lock.LeaseTable;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * A process that reads datasets.
 *
 * @param command its command line
 * @param program the same as people know it: of a JVM the main class and its arguments
 * @param datasets their names, sorted, each once
 * @param bytes what the versions occupy that it holds
 */
public record ClientRow(
        long pid, int uid, String user, String command, String program, List<String> datasets, long bytes) {
    public ClientRow {
        datasets = List.copyOf(datasets);
    }

    /** Finds everybody who holds a lease, by pid. The daemon itself, which leases what it verifies, is no client. */
    public static List<ClientRow> of(StoreLayout store) {
        LeaseTable leases = LeaseTable.of(store);
        return of(leases.held(), leases.daemonPid());
    }

    /** Returns a row for each process that holds a version, without the daemon. */
    public static List<ClientRow> of(List<HeldVersion> held, OptionalLong daemon) {
        Map<Long, List<HeldVersion>> byPid = new TreeMap<>();
        for (HeldVersion version : held) {
            version.pids()
                    .forEach(pid ->
                            byPid.computeIfAbsent(pid, key -> new ArrayList<>()).add(version));
        }
        daemon.ifPresent(byPid::remove);
        List<ClientRow> rows = new ArrayList<>();
        byPid.forEach((pid, versions) ->
                ProcessFacts.of(pid).ifPresent(process -> rows.add(of(process, versions)))); // else it ended just now
        return rows;
    }

    private static ClientRow of(ProcessFacts process, List<HeldVersion> versions) {
        return new ClientRow(
                process.pid(),
                process.uid(),
                process.user(),
                process.command(),
                process.program(),
                versions.stream().map(HeldVersion::dataset).distinct().sorted().toList(),
                versions.stream().mapToLong(HeldVersion::storedBytes).sum());
    }

    /** Returns a table of all. */
    public static List<String> table(List<ClientRow> rows) {
        Table table = Table.of(List.of(">PID", "USER", ">BYTES", "DATASETS", "COMMAND"));
        for (ClientRow row : rows) {
            table.row(List.of(
                    Long.toString(row.pid),
                    row.user,
                    Units.size(row.bytes),
                    String.join(",", row.datasets),
                    row.program));
        }
        return table.lines();
    }
}
