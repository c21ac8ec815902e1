package dev.larder.command;

import dev.larder.command.output.FeedRow;
import dev.larder.command.output.Json;
import dev.larder.command.output.Units;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.time.Deadline;
import dev.larder.server.store.lock.LeaseTable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows totals. */
@Command(name = "status", description = "Show totals of the store and its daemon, and the feeds with their consumers.")
final class Status implements Callable<Integer> {
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Override
    public Integer call() {
        DaemonStatus status = larder.client().status();
        StoreLayout store = new StoreLayout(larder.store());
        List<FeedRow> earlier = FeedRow.of(store, List.of());
        List<FeedRow> feeds = earlier.isEmpty() ? List.of() : lookAgain(store);
        if (json) {
            larder.out().println(Json.status(status, feeds, earlier));
            return 0;
        }
        facts(status).forEach(larder.out()::println);
        if (!feeds.isEmpty()) {
            larder.out().println();
            FeedRow.table(feeds, earlier).forEach(larder.out()::println);
        }
        return 0;
    }

    /** Looks a moment later, which tells how fast they are. */
    private static List<FeedRow> lookAgain(StoreLayout store) {
        Deadline next = Deadline.after(BETWEEN_LOOKS);
        while (!next.isOver()) {
            LockSupport.parkNanos(next.remaining().toNanos());
        }
        return FeedRow.of(store, LeaseTable.of(store).held());
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
                "huge pages  " + Units.size(status.hugeBytes()) + " (mount: huge=" + status.hugePages()
                        + refused(status) + ")",
                "uptime      " + Units.duration(status.uptime()));
    }

    private static String refused(DaemonStatus status) {
        long bytes = status.hugeRefusedBytes();
        return bytes == 0 ? "" : "; " + Units.size(bytes) + " refused by the kernel, asked again later";
    }
}
