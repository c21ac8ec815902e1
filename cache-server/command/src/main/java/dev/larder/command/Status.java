package dev.larder.command;

import dev.larder.command.output.FeedRow;
import dev.larder.command.output.Json;
import dev.larder.command.output.LoadRates;
import dev.larder.command.output.LoadRow;
import dev.larder.command.output.Units;
import dev.larder.command.output.UnservedStatus;
import dev.larder.command.rows.KnownArrays;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.time.Deadline;
import dev.larder.server.store.UnservedStore;
import dev.larder.server.store.lock.LeaseTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Shows totals. */
@Command(
        name = "status",
        description = {
            "Show totals of the store and its daemon, and the feeds and loads that are under way.",
            "If no daemon runs, this shows totals of the files of the store, and ends with exit code 3."
        })
final class Status implements Callable<Integer> {
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Override
    public Integer call() {
        StoreLayout store = new StoreLayout(larder.store());
        DaemonStatus status;
        try {
            status = larder.client().status();
        } catch (LarderException e) {
            showFiles(KnownArrays.read(store.root(), e));
            throw e;
        }
        List<FeedRow> earlier = FeedRow.of(store, List.of());
        LoadRates rates = new LoadRates();
        List<LoadRow> loads = rates.rows(larder.client().loads());
        if (!earlier.isEmpty() || !loads.isEmpty()) {
            awaitNextLook();
        }
        List<FeedRow> feeds = earlier.isEmpty()
                ? List.of()
                : FeedRow.of(store, LeaseTable.of(store).held());
        loads = loads.isEmpty() ? loads : rates.rows(larder.client().loads());
        if (json) {
            larder.out().println(Json.status(status, feeds, earlier, loads));
            return 0;
        }
        facts(status).forEach(larder.out()::println);
        if (!feeds.isEmpty()) {
            larder.out().println();
            FeedRow.table(feeds, earlier).forEach(larder.out()::println);
        }
        if (!loads.isEmpty()) {
            larder.out().println();
            LoadRow.table(loads).forEach(larder.out()::println);
        }
        return 0;
    }

    private void showFiles(UnservedStore files) {
        UnservedStatus status = new UnservedStatus(files);
        if (json) {
            larder.out().println(Json.document(status.fields()));
        } else {
            status.facts().forEach(larder.out()::println);
        }
        files.unreadable().forEach(reason -> larder.err().println("larder: note: not counted: " + reason.getMessage()));
    }

    /** Waits before the second sample, which rates of feeds and loads need. */
    private static void awaitNextLook() {
        Deadline next = Deadline.after(BETWEEN_LOOKS);
        while (!next.isOver()) {
            LockSupport.parkNanos(next.remaining().toNanos());
        }
    }

    /** Returns one line for each total. */
    static List<String> facts(DaemonStatus status) {
        List<String> facts = new ArrayList<>(List.of(
                "store       " + status.store(),
                "pid         " + status.pid(),
                "version     " + status.version(),
                "capacity    " + Units.size(status.capacityBytes()),
                "used        " + Units.size(status.usedBytes()),
                "leased      " + Units.size(status.leasedBytes()),
                "pinned      " + Units.size(status.pinnedBytes()),
                "retired     " + Units.size(status.retiredBytes()),
                "reserved    " + Units.size(status.reservedBytes()),
                "arrays      " + status.arrays(),
                "clients     " + status.clients(),
                "huge pages  " + Units.size(status.hugeBytes()) + " (mount: huge=" + status.hugePages()
                        + refused(status) + ")",
                "memory      " + Objects.requireNonNullElse(status.memoryPolicy(), "default"),
                "uptime      " + Units.duration(status.uptime())));
        if (!status.statusPage().isEmpty()) {
            Path token = new StoreLayout(Path.of(status.store())).token();
            facts.add("status page " + status.statusPage() + "?token=TOKEN ("
                    + (Files.isReadable(token)
                            ? "TOKEN is in " + token
                            : "for TOKEN ask the store's owner, or read the file of --http-token-file")
                    + ")");
        }
        return facts;
    }

    private static String refused(DaemonStatus status) {
        long bytes = status.hugeRefusedBytes();
        return bytes == 0 ? "" : "; " + Units.size(bytes) + " refused by the kernel, asked again later";
    }
}
