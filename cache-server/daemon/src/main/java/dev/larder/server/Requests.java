package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.Names;
import dev.larder.protocol.ArrayRow;
import dev.larder.protocol.DaemonStatus;
import dev.larder.protocol.Done;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.NewFilesRequest;
import dev.larder.protocol.PublishRequest;
import dev.larder.protocol.RegionRequest;
import dev.larder.protocol.ReleaseVersion;
import dev.larder.protocol.Request;
import dev.larder.server.control.Peer;
import dev.larder.server.control.Reply;
import dev.larder.server.control.RequestHandler;
import dev.larder.server.ingest.HeapShortage;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Load;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.SourceComparison;
import dev.larder.server.ingest.Upload;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.PublishedVersion;
import dev.larder.server.store.Regions;
import dev.larder.server.store.Reservation;
import dev.larder.server.store.Scratch;
import dev.larder.server.store.Store;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;

/** Gives the requests of clients their meaning. What takes time runs on worker threads, never on the control thread. */
final class Requests implements RequestHandler {
    private final Daemon daemon;
    private final Store store;
    private final Residency residency;
    private final Loads loads;
    private final BuildQueue builds;
    private final PendingWaits waits;
    private final Executor work;

    /** For what may wait until others have left the store: what makes them leave must not queue behind it. */
    private final Executor room;

    private final Executor verification;
    private final long startNs = System.nanoTime();
    private final Listing listing;

    /** Members of the group for whom a verification waits or runs. */
    private final Set<Integer> verifying = ConcurrentHashMap.newKeySet();

    Requests(
            Daemon daemon,
            Store store,
            Residency residency,
            Loads loads,
            PendingWaits waits,
            BuildQueue builds,
            Executor work,
            Executor room,
            Executor verification) {
        this.daemon = daemon;
        this.store = store;
        this.residency = residency;
        this.loads = loads;
        this.builds = builds;
        this.waits = waits;
        this.work = work;
        this.room = room;
        this.verification = verification;
        this.listing = new Listing(store, residency, loads);
    }

    @Override
    public void load(LoadRequest request, Reply reply) {
        if (request.registerOnly()) {
            run(work, reply, () -> reply.done(daemon.register(request)));
        } else {
            follow(daemon.startLoad(request), reply);
        }
    }

    @Override
    public void reload(String name, Reply reply) {
        follow(daemon.startReload(name), reply);
    }

    /** Tells a client of a load how far it is and how it ends. */
    private static void follow(Load load, Reply reply) {
        reply.onDisconnect(load::leave);
        answerAtEnd(load, reply);
    }

    private static void answerAtEnd(Ingest ingest, Reply reply) {
        reply.onEnd(ingest.listen(reply::progress));
        reply.onEnd(ingest.whenEnded((done, failure) -> {
            if (failure == null) {
                reply.done(done);
            } else {
                reply.problem(failure);
            }
        }));
    }

    @Override
    public void create(Request.Create request, Reply reply) {
        run(room, reply, () -> builds.await(request, reply));
    }

    @Override
    public void makeFiles(NewFilesRequest request, Reply reply) {
        Upload upload = requireUpload(request.token(), reply);
        run(room, reply, () -> {
            upload.makeFiles(request.files());
            reply.done(Done.NOTHING);
        });
    }

    @Override
    public void makeRoom(Request.MakeRoom request, Reply reply) {
        Upload upload = requireUpload(request.token(), reply);
        run(room, reply, () -> {
            upload.makeRoom(request.bytes());
            reply.done(Done.NOTHING);
        });
    }

    private Upload requireUpload(long token, Reply reply) {
        return loads.findUpload(token)
                .filter(upload -> Access.isBuiltBy(upload, reply.peer()))
                .orElseThrow(() -> Failure.of(ErrorCode.NOT_FOUND, "no such build")
                        .with("token", token)
                        .remedy("its client left, or it was published; ask to build it again"));
    }

    @Override
    public void publish(PublishRequest request, Reply reply) {
        Upload upload = requireUpload(request.token(), reply);
        answerAtEnd(upload, reply);
        upload.startPublishing(request.parts());
    }

    @Override
    public void await(String name, Duration timeout, boolean evenIfUnknown, Reply reply) {
        Runnable waiting = () -> waits.await(name, timeout, evenIfUnknown, reply);
        if (residency.find(Names.datasetIn(name)).isPresent()) {
            run(work, reply, waiting); // its files are looked at
        } else {
            waiting.run();
        }
    }

    @Override
    public void list(String prefix, boolean includeRetired, Reply reply) {
        run(work, reply, () -> {
            reply.rows(listing.rows(name -> name.startsWith(prefix), includeRetired));
            reply.done(Done.NOTHING);
        });
    }

    @Override
    public void info(String name, Reply reply) {
        run(work, reply, () -> {
            List<ArrayRow> rows = Listing.withoutReloads(
                    listing.rows(other -> other.equals(name) || other.startsWith(name + "/"), true).stream()
                            .filter(row -> row.state() != ArrayRow.State.RETIRED)
                            .toList());
            if (rows.isEmpty()) {
                throw unknown(name);
            }
            reply.rows(rows);
            reply.done(Done.NOTHING);
        });
    }

    private RuntimeException unknown(String name) {
        String dataset = Names.datasetIn(name);
        String array = Names.arrayIn(name);
        Optional<PublishedVersion> version = residency.find(dataset);
        if (array != null && version.isPresent()) {
            return version.get().noSuchArray(array);
        }
        return residency.noSuchDataset(dataset);
    }

    @Override
    public void evict(String name, boolean forget, Reply reply) {
        run(work, reply, () -> {
            daemon.access().requireMayChange(reply.peer(), name, "evict");
            Optional<PublishedVersion> evicted = daemon.evict(name, forget);
            reply.done(evicted.map(Requests::evicted).orElse(Done.NOTHING));
        });
    }

    private static Done evicted(PublishedVersion version) {
        String warning = version.isSourced()
                ? ""
                : "note: " + version.dataset()
                        + " was computed and has no source: it does not come back unless it is built again";
        return Done.of(version.arrays().size(), version.storedBytes(), warning);
    }

    @Override
    public void pin(String name, boolean pinned, Reply reply) {
        run(work, reply, () -> {
            daemon.access().requireMayChange(reply.peer(), name, pinned ? "pin" : "unpin");
            daemon.pin(name, pinned);
            reply.done(Done.NOTHING);
        });
    }

    @Override
    public void errors(Reply reply) {
        run(work, reply, () -> {
            reply.rows(daemon.errors());
            reply.done(Done.NOTHING);
        });
    }

    @Override
    public void verify(String name, boolean againstSources, Reply reply) {
        Peer peer = reply.peer();
        if (!peer.isOwner() && !verifying.add(peer.uid())) { // others would have to wait for all that one asks for
            throw Failure.of(ErrorCode.REFUSED, "a verification that this user asked for is still under way")
                    .with("user", peer.user())
                    .with("uid", peer.uid())
                    .remedy("wait for it to end");
        }
        run(verification, reply, () -> {
            try {
                verifyNow(name, againstSources, reply);
            } finally {
                verifying.remove(peer.uid());
            }
        });
    }

    private void verifyNow(String name, boolean againstSources, Reply reply) {
        Optional<PublishedVersion> version = residency.find(Names.datasetIn(name));
        if (!name.isEmpty() && version.isEmpty()) {
            throw unknown(name);
        }
        List<PublishedVersion> versions = name.isEmpty() ? residency.current() : List.of(version.orElseThrow());
        String array = Objects.requireNonNullElse(Names.arrayIn(name), "");
        Done done = new Verification(store, versions, array, reply::progress, reply::isConnected).run();
        if (done.files() == 0 && !array.isEmpty()) {
            throw unknown(name);
        }
        reply.done(againstSources ? compareWithSources(versions, array, reply) : done);
    }

    private Done compareWithSources(List<PublishedVersion> versions, String array, Reply reply) {
        if (versions.size() == 1 && versions.get(0).origins().isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset was computed, so it has no source")
                    .with("dataset", versions.get(0).dataset())
                    .remedy("verify it without --source");
        }
        int workers = Runtime.getRuntime().availableProcessors();
        try (Reservation reservation = residency.reserveWithoutEvicting();
                Scratch scratch = store.newScratch(reservation)) {
            return new SourceComparison(array, workers, reply::progress, reply::isConnected, scratch).run(versions);
        }
    }

    @Override
    public void status(Reply reply) {
        run(work, reply, () -> {
            List<PublishedVersion> all = residency.all();
            Set<Long> clients = store.holders(all).values().stream()
                    .flatMap(List::stream)
                    .collect(Collectors.toCollection(HashSet::new));
            reply.status(new DaemonStatus(
                    store.layout().root().toString(),
                    ProcessHandle.current().pid(),
                    ReleaseVersion.text(),
                    store.capacityBytes(),
                    residency.usedBytes() + store.sharedBytes(),
                    residency.leasedBytes(),
                    residency.pinnedBytes(),
                    residency.retired().stream()
                            .mapToLong(PublishedVersion::storedBytes)
                            .sum(),
                    residency.current().stream()
                            .mapToLong(v -> v.arrays().size())
                            .sum(),
                    clients.size(),
                    store.hugePages(),
                    Duration.ofNanos(System.nanoTime() - startNs)));
            reply.done(Done.NOTHING);
        });
    }

    @Override
    public void regions(RegionRequest request, Reply reply) {
        run(request instanceof RegionRequest.Create ? room : work, reply, () -> {
            if (request instanceof RegionRequest.Create create) {
                createRegion(create, reply);
                return;
            }
            if (request instanceof RegionRequest.ListAll list) {
                reply.rows(
                        list.name().isEmpty()
                                ? store.regions().list()
                                : store.regions().find(list.name()).stream().toList());
            } else if (request instanceof RegionRequest.Remove remove
                    && !store.regions().remove(remove.name(), remove.id())
                    && remove.id() == 0) {
                throw Failure.of(ErrorCode.NOT_FOUND, "no such region")
                        .with("name", remove.name())
                        .remedy("larder regions lists what there is");
            }
            reply.done(Done.NOTHING);
        });
    }

    /** Answers once the region is there, without keeping a thread while another client has it made. */
    private void createRegion(RegionRequest.Create request, Reply reply) {
        Names.requireDataset(request.name());
        long storedBytes = Regions.storedBytes(request.byteSize());
        var unused = store.regions()
                .create(request, reply.peer().pid(), () -> residency.reserve(storedBytes, reply::isConnected))
                .whenComplete((row, failure) -> {
                    if (failure == null) {
                        reply.rows(List.of(row));
                        reply.done(Done.NOTHING);
                    } else {
                        reply.problem(failure);
                    }
                });
    }

    @Override
    public void stop(boolean keep, Reply reply) {
        Thread thread = new Thread(
                () -> answer(reply, () -> daemon.stop(keep, cleanUp -> reply.done(done(cleanUp)))), "larder-stop");
        thread.setDaemon(true);
        thread.start();
    }

    private static Done done(CleanUp cleanUp) {
        String holders = cleanUp.holders().stream().map(String::valueOf).collect(Collectors.joining(","));
        return new Done(cleanUp.files(), cleanUp.bytes(), cleanUp.heldUntilExitBytes(), holders, "");
    }

    private void run(Executor executor, Reply reply, Runnable request) {
        try {
            executor.execute(() -> answer(reply, request));
        } catch (RejectedExecutionException e) {
            reply.problem(Failure.of(ErrorCode.NO_DAEMON, "the daemon is stopping")
                    .remedy("start it again with larder serve"));
        }
    }

    private void answer(Reply reply, Runnable request) {
        try {
            request.run();
        } catch (RuntimeException | Error e) {
            Throwable failure = HeapShortage.explained(e);
            if (failure != e) {
                daemon.report("a request failed", failure);
            }
            reply.problem(failure);
        }
    }
}
