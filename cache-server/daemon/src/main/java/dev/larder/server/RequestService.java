package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.RegionRequest;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response.ArrayRows;
import dev.larder.internal.protocol.Response.ErrorRows;
import dev.larder.internal.protocol.Response.LoadRows;
import dev.larder.internal.protocol.Response.RegionRows;
import dev.larder.message.MessageBudget;
import dev.larder.server.control.FairQueue;
import dev.larder.server.control.Reply;
import dev.larder.server.control.RequestHandler;
import dev.larder.server.ingest.HeapShortage;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.LoadJob;
import dev.larder.server.ingest.Upload;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.RegionFiles;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Handles the requests of clients. Slow work runs on worker threads, never on the control thread.
 *
 * <p>A table names the method for each type of request. Java 17 has no switch over a sealed type, so each start of a daemon compares the
 * table with the types that {@link Request} permits.
 */
final class RequestService implements RequestHandler {
    private final Store store;
    private final Residency residency;
    private final LoadService loadService;
    private final Maintenance maintenance;
    private final Access access;
    private final PendingWaits waits;
    private final Overview overview;
    private final DaemonThreads threads;
    private final ErrorLog errors;
    private final Shutdown shutdown;
    private final Verifications verifications;

    /** A sixteenth of the heap for all sources that wait for their load. */
    private final MessageBudget pendingSources =
            new MessageBudget(Runtime.getRuntime().maxMemory() / 16);

    private final Map<Class<?>, BiConsumer<Request, Reply>> handlers = new HashMap<>();

    RequestService(
            Store store,
            Residency residency,
            LoadService loadService,
            Maintenance maintenance,
            Access access,
            PendingWaits waits,
            BuildQueue builds,
            Overview overview,
            DaemonThreads threads,
            ErrorLog errors,
            Shutdown shutdown) {
        this.store = store;
        this.residency = residency;
        this.loadService = loadService;
        this.maintenance = maintenance;
        this.access = access;
        this.waits = waits;
        this.overview = overview;
        this.threads = threads;
        this.errors = errors;
        this.shutdown = shutdown;
        this.verifications = new Verifications(store, residency);
        on(LoadRequest.class, this::load);
        on(Request.Reload.class, this::reload);
        on(Request.Create.class, (request, reply) -> create(request, reply, builds));
        on(Request.Sources.class, this::addSources);
        on(Request.Files.class, this::createFiles);
        on(Request.Room.class, this::reserveRoom);
        on(Request.Part.class, RequestService::addParts);
        on(Request.Publish.class, this::publish);
        on(Request.Wait.class, this::await);
        on(Request.ListArrays.class, this::list);
        on(Request.Info.class, this::info);
        on(Request.Evict.class, this::evict);
        on(Request.Pin.class, this::pin);
        on(Request.NoteWhole.class, this::recordWhole);
        on(Request.Errors.class, this::errors);
        on(Request.Verify.class, this::verify);
        on(Request.Status.class, this::status);
        on(Request.Loads.class, this::loads);
        on(RegionRequest.Create.class, this::createRegion);
        on(RegionRequest.ListAll.class, this::listRegions);
        on(RegionRequest.Remove.class, this::removeRegion);
        on(Request.Stop.class, this::stop);
        requireHandlers(Request.class);
    }

    private <R extends Request> void on(Class<R> type, BiConsumer<R, Reply> handler) {
        handlers.put(type, (request, reply) -> handler.accept(type.cast(request), reply));
    }

    private void requireHandlers(Class<?> type) {
        if (type.isSealed()) {
            Stream.of(type.getPermittedSubclasses()).forEach(this::requireHandlers);
        } else if (!Stream.of(Request.GetInfo.class, Request.GetInterfaceDescription.class)
                        .anyMatch(type::equals) // the control server answers these
                && !handlers.containsKey(type)) {
            throw new IllegalStateException("no handler for " + type);
        }
    }

    @Override
    public void handle(Request request, Reply reply) {
        BiConsumer<Request, Reply> handler = handlers.get(request.getClass());
        if (handler == null) {
            throw new IllegalArgumentException("no handler for " + request);
        }
        handler.accept(request, reply);
    }

    private void load(LoadRequest call, Reply reply) {
        LoadRequest request = PendingSources.addTo(call, reply.session());
        request.sources().forEach(RequestService::requireAbsolute);
        if (request.registerOnly()) {
            run(
                    threads.sources(),
                    reply,
                    "Register",
                    () -> reply.done(loadService.register(request, reply::isConnected)));
        } else {
            follow(loadService.startLoad(request, reply.peer()), reply);
        }
    }

    /** The working folder of a client is not that of the daemon. */
    private static void requireAbsolute(LoadRequest.Source source) {
        if (!source.isRemote() && !source.path().startsWith("/")) {
            throw Failure.of(ErrorCode.BAD_INPUT, "path of a source is not absolute")
                    .with("dataset", source.name())
                    .with("path", Names.printable(source.path()))
                    .remedy("begin it with /");
        }
    }

    private void addSources(Request.Sources request, Reply reply) {
        PendingSources.of(reply.session(), pendingSources).add(request.sources());
        reply.done(Done.NOTHING);
    }

    private void reload(Request.Reload request, Reply reply) {
        requireDataset(request.name(), "loaded again", "reload");
        follow(loadService.startReload(request.name(), reply.peer()), reply);
    }

    /** Reports the progress and the end of a load to a client. */
    private static void follow(LoadJob load, Reply reply) {
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

    private void create(Request.Create request, Reply reply, BuildQueue builds) {
        Object attachment = reply.session().attachment();
        if (attachment != null && !(attachment instanceof Upload upload && upload.hasEnded())) {
            throw Failure.of(ErrorCode.REFUSED, "the connection has a build already, or sources of a load")
                    .remedy("create each dataset on a connection of its own");
        }
        run(threads.room(), reply, "Create", () -> builds.await(request, reply));
    }

    private void createFiles(Request.Files request, Reply reply) {
        Upload upload = requireUpload(reply);
        run(threads.room(), reply, "Files", () -> {
            upload.createFiles(request.files());
            reply.done(Done.NOTHING);
        });
    }

    private void reserveRoom(Request.Room request, Reply reply) {
        Upload upload = requireUpload(reply);
        run(threads.room(), reply, "Room", () -> {
            upload.reserve(request.bytes());
            reply.done(Done.NOTHING);
        });
    }

    private static void addParts(Request.Part request, Reply reply) {
        requireUpload(reply).addParts(request.parts());
        reply.done(Done.NOTHING);
    }

    private void publish(Request.Publish request, Reply reply) {
        Upload upload = requireUpload(reply);
        reply.onEnd(upload.whenEnded((done, failure) -> reply.session().detach()));
        answerAtEnd(upload, reply);
        run(threads.publishing(), reply, "Publish", upload::publish);
    }

    /** Returns the build of the connection; fails with the reason if it has ended. */
    private static Upload requireUpload(Reply reply) {
        if (reply.session().attachment() instanceof Upload upload) {
            upload.requireOpen();
            return upload;
        }
        throw Failure.of(ErrorCode.NOT_FOUND, "the connection has no build")
                .remedy("call Create first, on the same connection");
    }

    private void await(Request.Wait request, Reply reply) {
        Runnable waiting = () -> waits.await(request.name(), request.timeout(), request.evenIfUnknown(), reply);
        if (residency.find(Names.datasetIn(request.name())).isPresent()) {
            run(threads.answers(), reply, "Wait", waiting); // it checks files
        } else {
            waiting.run();
        }
    }

    private void list(Request.ListArrays request, Reply reply) {
        runUntilSent(reply, "ListArrays", () -> {
            reply.answer(new ArrayRows(
                    overview.listing().rows(request.prefix(), request.includeRetired(), request.mostArrays())));
        });
    }

    private void info(Request.Info request, Reply reply) {
        String name = request.name();
        runUntilSent(reply, "Info", () -> {
            List<ArrayRow> rows = overview.arrays(name);
            if (rows.isEmpty()) {
                throw residency.notResident(name);
            }
            reply.answer(new ArrayRows(rows));
        });
    }

    private void evict(Request.Evict request, Reply reply) {
        run(threads.removals(), reply, "Evict", () -> {
            access.requireMayChange(reply.peer(), request.name(), "evict");
            requireDataset(request.name(), "evicted", "evict");
            Optional<PublishedVersion> evicted = residency.evict(request.name(), request.forget());
            maintenance.afterChange();
            reply.done(evicted.map(RequestService::evicted).orElse(Done.NOTHING));
        });
    }

    private static Done evicted(PublishedVersion version) {
        String warning = version.isSourced()
                ? ""
                : "note: " + version.dataset() + " was computed and has no source: to have it again, build it again";
        return Done.of(version.arrays().size(), version.storedBytes(), warning);
    }

    private void pin(Request.Pin request, Reply reply) {
        run(threads.answers(), reply, "Pin", () -> {
            access.requireMayChange(reply.peer(), request.name(), request.pinned() ? "pin" : "unpin");
            requireDataset(request.name(), "pinned", "pin");
            residency.pin(request.name(), request.pinned());
            maintenance.afterChange();
            reply.done(Done.NOTHING);
        });
    }

    private void recordWhole(Request.NoteWhole request, Reply reply) {
        run(threads.answers(), reply, "NoteWhole", () -> {
            residency.recordWhole(request.name(), request.digest(), request.of());
            reply.done(Done.NOTHING);
        });
    }

    /** Refuses the name of an array: only whole datasets are changed. */
    private static void requireDataset(String name, String what, String command) {
        if (name.indexOf('/') >= 0) {
            throw Failure.of(ErrorCode.USAGE, "only a whole dataset can be " + what)
                    .with("name", name)
                    .remedy("larder " + command + " " + ArrayName.parse(name).dataset());
        }
    }

    /** Answers on the control thread, from memory, so that clients see errors even if all workers hang. */
    private void errors(Request.Errors request, Reply reply) {
        List<ErrorRow> rows = new ArrayList<>(overview.errors());
        threads.late().forEach(late -> rows.add(row(late)));
        reply.answer(new ErrorRows(rows));
    }

    private static ErrorRow row(FairQueue.Running late) {
        Instant now = Instant.now();
        String message = Failure.of(ErrorCode.DEADLINE, ErrorRow.LATE)
                .with("request", late.what())
                .with("user", late.peer().user())
                .with("pid", late.peer().pid())
                .with("seconds", late.time().toSeconds())
                .with("thread", late.thread().getName())
                .remedy("its stack trace shows where it waits")
                .getMessage();
        String stack = Stream.of(late.thread().getStackTrace())
                .map(frame -> "\tat " + frame)
                .collect(Collectors.joining("\n", late.thread().getName() + "\n", "\n"));
        return new ErrorRow(1, now.minus(late.time()), now, String.valueOf(message), stack);
    }

    private void verify(Request.Verify request, Reply reply) {
        FairQueue queue = verifications.looksAtSources(request) ? threads.sources() : threads.verification();
        run(queue, reply, "Verify", () -> reply.done(verifications.run(request, reply)));
    }

    private void status(Request.Status request, Reply reply) {
        run(threads.answers(), reply, "Status", () -> {
            reply.answer(overview.status());
        });
    }

    private void loads(Request.Loads request, Reply reply) {
        run(threads.answers(), reply, "Loads", () -> {
            reply.answer(new LoadRows(overview.loads()));
        });
    }

    private void listRegions(RegionRequest.ListAll request, Reply reply) {
        runUntilSent(reply, "ListRegions", () -> {
            RegionFiles regions = store.regions();
            reply.answer(new RegionRows(
                    request.name().isEmpty()
                            ? regions.list()
                            : regions.find(request.name()).stream().toList()));
        });
    }

    private void removeRegion(RegionRequest.Remove request, Reply reply) {
        run(threads.removals(), reply, "RemoveRegion", () -> {
            if (!store.regions().remove(request.name(), request.id()) && request.id() == 0) {
                throw Failure.of(ErrorCode.NOT_FOUND, "no such region")
                        .with("name", request.name())
                        .remedy("larder regions lists all");
            }
            reply.done(Done.NOTHING);
        });
    }

    private void createRegion(RegionRequest.Create request, Reply reply) {
        run(threads.room(), reply, "CreateRegion", () -> makeRegion(request, reply));
    }

    /** Answers once the region exists, without occupying a thread while another client's request creates it. */
    private void makeRegion(RegionRequest.Create request, Reply reply) {
        Names.requireDataset(request.name());
        long storedBytes = RegionFiles.storedBytes(request.bytes());
        var unused = store.regions()
                .create(request, reply.peer().pid(), () -> residency.reserve(storedBytes, reply::isConnected))
                .whenComplete((row, failure) -> {
                    if (failure == null) {
                        reply.answer(new RegionRows(List.of(row)));
                    } else {
                        reply.problem(failure);
                    }
                });
    }

    private void stop(Request.Stop request, Reply reply) {
        Thread thread = new Thread(
                () -> answer(reply, () -> shutdown.stop(request.keep(), cleanUp -> reply.done(done(cleanUp)))),
                "larder-stop");
        thread.setDaemon(true);
        thread.start();
    }

    private static Done done(CleanUp cleanUp) {
        String holders = cleanUp.holders().stream().map(String::valueOf).collect(Collectors.joining(","));
        return new Done(cleanUp.files(), cleanUp.bytes(), cleanUp.heldUntilExitBytes(), holders, "");
    }

    /** Answers a request when it is its user's turn, unless the client leaves before. */
    private void run(FairQueue queue, Reply reply, String what, Runnable request) {
        reply.onDisconnect(queue.submit(reply.peer(), what, () -> answer(reply, request))::withdraw);
    }

    /** Sends rows. They take memory until they are sent, so their turn lasts as long. */
    private void runUntilSent(Reply reply, String what, Runnable request) {
        reply.onDisconnect(threads.listings().submitHolding(reply.peer(), what, endTurn -> {
            answer(reply, request);
            reply.onSent(endTurn);
        })::withdraw);
    }

    private void answer(Reply reply, Runnable request) {
        try {
            request.run();
        } catch (RuntimeException | Error e) {
            Throwable failure = HeapShortage.explained(e);
            if (failure != e) {
                errors.report("a request failed", failure);
            }
            reply.problem(failure);
        }
    }
}
