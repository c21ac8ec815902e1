package dev.larder.command;

import dev.larder.command.output.Json;
import dev.larder.command.output.Units;
import dev.larder.internal.protocol.DaemonStatus;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows totals. */
@Command(name = "status", description = "Show totals of the store and its daemon.")
final class Status implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Override
    public Integer call() {
        DaemonStatus status = larder.client().status();
        if (json) {
            larder.out().println(Json.status(status));
        } else {
            facts(status).forEach(larder.out()::println);
        }
        return 0;
    }

    /** Returns one line for each total. */
    static List<String> facts(DaemonStatus status) {
        return List.of(
                "store       " + status.store(),
                "pid         " + status.pid(),
                "version     " + status.version(),
                "capacity    " + Units.size(status.capacityBytes()),
                "used        " + Units.size(status.usedBytes()),
                "leased      " + Units.size(status.leasedBytes()),
                "pinned      " + Units.size(status.pinnedBytes()),
                "retired     " + Units.size(status.retiredBytes()),
                "arrays      " + status.arrays(),
                "clients     " + status.clients(),
                "huge pages  " + Units.size(status.hugeBytes()) + " (mount: huge=" + status.hugePages() + ")",
                "uptime      " + Units.duration(status.uptime()));
    }
}
