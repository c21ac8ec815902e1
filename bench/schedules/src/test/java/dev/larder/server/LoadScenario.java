package dev.larder.server;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.schedules.Race;
import dev.larder.schedules.Schedules;
import dev.larder.server.control.FairQueue;
import dev.larder.server.control.Peer;
import dev.larder.server.ingest.GroupQuota;
import dev.larder.server.ingest.LoadJob;
import dev.larder.server.ingest.Loads;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.metrics.UsageSampler;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** Three callers want the same dataset; one of them leaves at once. */
final class LoadScenario implements Schedules.Scenario {
    private static final Peer CALLER = Peer.thisProcess();

    private final Store store;
    private final LoadRequest request;

    /** Runs nothing: pages and counters of the status are nobody's concern here. */
    private final ScheduledExecutorService stopped = Executors.newSingleThreadScheduledExecutor();

    LoadScenario(Path root) {
        this.store = Store.open(new StoreLayout(root), OptionalLong.of(1 << 20), Optional.empty());
        stopped.shutdownNow();
        try {
            NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, 0);
            Path source = store.layout().incoming().resolve("source.npy");
            Files.write(source, bytes(StoreLayout.header(header)));
            this.request =
                    new LoadRequest(List.of(new LoadRequest.Source("d", source.toString())), LoadOptions.none(), 1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private LoadService service(Loads loads, Residency residency, Counters counters) {
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        Shutdown shutdown = new Shutdown(store.layout().root());
        IdleMonitor idle = new IdleMonitor(
                new UsageSampler(counters, List::of),
                new Activity(counters, System::nanoTime),
                loads,
                () -> false,
                stopped,
                failure -> {});
        PageCollapse pages = new PageCollapse(
                residency::current,
                store::pages,
                () -> false,
                () -> false,
                PageCollapse.Pace.usual(false),
                stopped,
                failure -> {});
        Maintenance maintenance =
                new Maintenance(residency, counters, idle, pages, errors, stopped, shutdown::isStopping);
        return new LoadService(loads, residency, maintenance, counters, errors, shutdown);
    }

    @Override
    public void run() {
        Residency residency = new Residency(store, () -> 1_000_000);
        Counters counters = Counters.unshared();
        FairQueue queue = new FairQueue("load", 2, 16);
        Loads loads = new Loads(store, residency, new GroupQuota(residency, 0), 1, queue);
        LoadService service = service(loads, residency, counters);

        Race.run(
                () -> start(service).outcome().join(),
                () -> start(service).outcome().join(),
                () -> start(service).leave());

        loads.close(60_000);
        Race.alone(() -> {
            Race.require(residency.require("d").version() == 1, "it was published twice");
            Race.require(loads.running().isEmpty(), "a load has not ended");
            Race.require(store.reservedBytes() == 0, "space is still reserved");
            residency.evict("d", true);
        });
    }

    /** Starts or joins the load. Tries again while a load ends that its last caller has left, as the message says. */
    private LoadJob start(LoadService service) throws InterruptedException {
        while (true) {
            try {
                return service.startLoad(request, CALLER);
            } catch (LarderException e) {
                if (!String.valueOf(e.getMessage()).contains("a cancelled load of the dataset is still ending")) {
                    throw e;
                }
                Thread.sleep(1); // lets others go on
            }
        }
    }

    @Override
    public void close() {
        try {
            store.removeAll(List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
