package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import dev.larder.server.control.Reply;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.Upload;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.version.PublishedVersion;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The clients that want to build a dataset. One client builds; the others wait and receive its progress. If the builder fails or
 * dies, the next client takes over. Thread-safe; waiting costs no thread.
 */
final class BuildQueue {
    private final Residency residency;
    private final Loads loads;
    private final LoadService loadService;
    private final Access access;
    private final DaemonThreads threads;

    BuildQueue(Residency residency, Loads loads, LoadService loadService, Access access, DaemonThreads threads) {
        this.residency = residency;
        this.loads = loads;
        this.loadService = loadService;
        this.access = access;
        this.threads = threads;
    }

    /** Answers when it is the caller's turn, or when the dataset is resident and the request accepts that. */
    void await(Request.Create request, Reply reply) {
        Names.requireDataset(request.name());
        Turn turn = new Turn(request, reply);
        ScheduledFuture<?> expiry =
                threads.timer().schedule(turn::expire, request.timeout().toMillis(), TimeUnit.MILLISECONDS);
        turn.onSettled = () -> expiry.cancel(false);
        reply.onDisconnect(turn::leave);
        turn.tryTake();
    }

    /** A client that waits. */
    private final class Turn {
        private final Request.Create request;
        private final Reply reply;
        private final AtomicBoolean settled = new AtomicBoolean();
        private Runnable onSettled = () -> {};
        private volatile Runnable unfollow = () -> {};
        private volatile boolean sourceTried;

        /** A client gets at least one attempt, even if its timeout is very short. */
        private volatile boolean hasTried;

        private volatile boolean isOver;

        Turn(Request.Create request, Reply reply) {
            this.request = request;
            this.reply = reply;
        }

        /** Takes the turn, or waits for the client that has it. */
        void tryTake() {
            if (settled.get()) {
                return;
            }
            try {
                take();
            } catch (RuntimeException | Error e) {
                if (isOver) { // it waited for space
                    expireBecause(expired("there was no space for the dataset in time"));
                } else if (settle()) {
                    reply.problem(e);
                }
            }
            hasTried = true;
            if (isOver) {
                expire();
            }
        }

        private void take() {
            Optional<PublishedVersion> resident = residency.find(request.name());
            if (resident.isPresent() && !request.evenIfResident()) {
                if (settle()) {
                    PublishedVersion version = resident.get();
                    residency.protect(version);
                    reply.done(Done.of(version.arrays().size(), version.dataBytes(), "resident"));
                }
                return;
            }
            Optional<? extends Ingest> reading = readSource();
            if (reading.isPresent()) {
                follow(reading.get());
                return;
            }
            access.requireMayChange(reply.peer(), request.name(), "create");
            Optional<Upload> upload = loadService.tryStartUpload(
                    request, Access.publisher(reply.peer()), () -> !settled.get() && !isOver);
            if (upload.isPresent()) {
                begin(upload.get());
                return;
            }
            Optional<Ingest> running = loads.find(request.name());
            if (running.isPresent()) {
                follow(running.get());
            } else {
                tryAgain(); // it ended between the two checks
            }
        }

        /** Starts to load a dataset that has a source, once. If the load fails, the dataset is built. */
        private Optional<? extends Ingest> readSource() {
            if (request.evenIfResident() || sourceTried) {
                return Optional.empty();
            }
            sourceTried = true;
            return loadService.readThrough(request.name(), reply.peer());
        }

        private void begin(Upload upload) {
            if (!settle()) {
                upload.cancel(); // too late: the client has left, or has received its timeout
                return;
            }
            try {
                Build build = upload.build();
                reply.session().attach(upload, true, upload::cancel);
                reply.answer(build);
            } catch (RuntimeException | Error e) {
                upload.cancel();
                reply.problem(e);
            }
        }

        private void follow(Ingest other) {
            Runnable noProgress = other.listen(reply::progress);
            Runnable noEnd = other.whenEnded((done, failure) -> {
                noProgress.run();
                tryAgain();
            });
            unfollow = () -> {
                noProgress.run();
                noEnd.run();
            };
            if (settled.get()) { // settled meanwhile by a thread that found nothing to cancel
                unfollow.run();
            }
        }

        private void tryAgain() {
            try {
                reply.onEnd(threads.room().submit(reply.peer(), "Create", this::tryTake)::withdraw);
            } catch (LarderException e) {
                expireBecause(e);
            }
        }

        private boolean settle() {
            boolean first = settled.compareAndSet(false, true);
            if (first) {
                onSettled.run();
                unfollow.run();
            }
            return first;
        }

        void leave() {
            settle();
        }

        void expire() {
            isOver = true;
            if (hasTried) {
                expireBecause(expired("another process is still building the dataset"));
            }
        }

        private LarderException expired(String summary) {
            return Failure.of(ErrorCode.DEADLINE, summary)
                    .with("dataset", request.name())
                    .with("timeoutMs", request.timeout().toMillis())
                    .remedy("give a longer timeout, or check larder ls --all");
        }

        private void expireBecause(LarderException reason) {
            if (settle()) {
                reply.problem(reason);
            }
        }
    }
}
