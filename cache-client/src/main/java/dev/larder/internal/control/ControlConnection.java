package dev.larder.internal.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.internal.time.Deadline;
import dev.larder.message.BadMessage;
import dev.larder.message.Call;
import dev.larder.message.MessageReader;
import dev.larder.message.Messages;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One connection to a daemon, for one call at a time. Every step fails after the maximum silence. */
final class ControlConnection implements AutoCloseable {
    /** The reason of a message for another protocol. The message for that already contains it. */
    private static final String NOT_JSON = "it does not begin with {";

    private static final long RETRY_NANOS = 2_000_000;

    private final Path store;
    private final Duration silence;
    private final Selector selector;
    private final SocketChannel channel;
    private final SelectionKey key;
    private final MessageReader messages = new MessageReader();
    private boolean isAnswerDue;
    private boolean lost;

    private ControlConnection(Path store, Duration silence, Selector selector, SocketChannel channel)
            throws IOException {
        this.store = store;
        this.silence = silence;
        this.selector = selector;
        this.channel = channel;
        this.key = channel.register(selector, SelectionKey.OP_READ);
    }

    /** Connects to the daemon of a store. */
    static ControlConnection open(Path store, Duration silence) {
        UnixDomainSocketAddress address = Protocol.address(new StoreLayout(store).socket());
        if (Files.exists(store, LinkOption.NOFOLLOW_LINKS)) {
            StoreLocation.requireTrustedOwner(store);
        }
        SocketChannel channel = null;
        Selector selector = null;
        try {
            channel = connect(store, address, Deadline.after(silence));
            selector = Selector.open();
            return new ControlConnection(store, silence, selector, channel);
        } catch (IOException noDaemon) {
            closeAll(selector, channel);
            throw noDaemon(store, noDaemon);
        } catch (RuntimeException | Error failure) {
            closeAll(selector, channel);
            throw failure;
        }
    }

    /** Sends a call. The daemon answers it, possibly after progress reports. */
    void call(Request request) {
        if (request instanceof LoadRequest load) {
            callLoad(load);
        } else {
            send(encoded(new Call(Protocol.method(request), request, true, false, false)));
        }
    }

    private byte[] encoded(Call call) {
        try {
            return Messages.encode(call);
        } catch (Messages.MessageTooLong e) {
            throw tooLong(e);
        }
    }

    private LarderException tooLong(Messages.MessageTooLong reason) {
        return Failure.of(ErrorCode.USAGE, "a request is too long")
                .with("limit", Messages.MAX_BYTES)
                .with("store", store)
                .cause(reason)
                .remedy("give it fewer or shorter values");
    }

    /** Sends sources that do not fit into one message in separate messages first. */
    private void callLoad(LoadRequest load) {
        Iterator<byte[]> pages = Messages.pages(load.sources(), (sources, isLast) -> {
            Request request = isLast ? load.withSources(sources) : new Request.Sources(sources);
            return new Call(Protocol.method(request), request, true, false, false);
        });
        try {
            send(pages.next());
            while (pages.hasNext()) {
                finish(ProgressListener.NONE, Deadline.none());
                send(pages.next());
            }
        } catch (Messages.MessageTooLong e) {
            throw tooLong(e);
        }
    }

    /** Makes a call and waits until the daemon has finished it. Threads take turns. */
    synchronized Done call(Request request, ProgressListener progress) {
        call(request);
        return finish(progress, Deadline.none());
    }

    /** Makes as many calls as a list needs, each with the elements that fit into one message. */
    synchronized <T> void callAll(List<T> list, Function<List<T>, Request> toRequest) {
        if (!list.isEmpty()) {
            Messages.pages(list, (some, isLast) -> {
                        Request request = toRequest.apply(some);
                        return new Call(Protocol.method(request), request, true, false, false);
                    })
                    .forEachRemaining(message -> {
                        send(message);
                        finish(ProgressListener.NONE, Deadline.none());
                    });
        }
    }

    private void send(byte[] message) {
        if (lost) {
            throw gone(null);
        } else if (isAnswerDue) { // the next answer would belong to that call
            close();
            throw Failure.of(ErrorCode.REFUSED, "the previous call on this connection has no answer yet")
                    .with("store", store)
                    .remedy("start a new build");
        }
        isAnswerDue = true;
        ByteBuffer bytes = ByteBuffer.wrap(message);
        Deadline deadline = Deadline.after(silence);
        try {
            while (bytes.hasRemaining()) {
                if (channel.write(bytes) == 0) {
                    await(SelectionKey.OP_WRITE, deadline, "the daemon accepted no request");
                }
            }
        } catch (IOException broken) {
            throw explainBroken(broken);
        }
    }

    /** Waits until the daemon has finished, and reports progress. */
    Done finish(ProgressListener progress, Deadline end) {
        return answer(Done.class, progress, end);
    }

    /** Waits for the turn to build. Returns empty if the dataset is resident. */
    Optional<Build> awaitTurn(ProgressListener progress, Deadline end) {
        Response response = nextAnswer(progress, end).response();
        if (response instanceof Done) {
            return Optional.empty();
        }
        return Optional.of(require(Build.class, response));
    }

    /** Waits for an answer of one message. */
    <T extends Response> T answer(Class<T> kind, ProgressListener progress, Deadline end) {
        return require(kind, nextAnswer(progress, end).response());
    }

    /** Collects the rows of all messages of an answer. */
    <T extends Response, R> List<R> rows(Class<T> kind, Function<T, List<R>> rows, Deadline end) {
        List<R> all = new ArrayList<>();
        while (true) {
            Answers.Received received = nextAnswer(ProgressListener.NONE, end);
            all.addAll(rows.apply(require(kind, received.response())));
            if (!received.continues()) {
                return all;
            }
        }
    }

    /** Returns the next answer that is not a progress report. Throws if the daemon refused the call. */
    private Answers.Received nextAnswer(ProgressListener progress, Deadline end) {
        while (true) {
            Answers.Received received = end.remaining().compareTo(silence) <= 0
                    ? receive(end, "the deadline passed")
                    : receive(Deadline.after(silence), "the daemon sent nothing");
            Response response = received.response();
            isAnswerDue = received.continues();
            if (response instanceof Problem problem) {
                throw problem.exception();
            } else if (response instanceof Progress step && received.continues()) {
                progress.progress(step);
            } else {
                return received;
            }
        }
    }

    private <T extends Response> T require(Class<T> kind, Response response) {
        if (kind.isInstance(response)) {
            return kind.cast(response);
        }
        throw Failure.of(ErrorCode.UNEXPECTED, "the daemon's answer does not match the request")
                .with("expected", kind.getSimpleName())
                .with("answer", response.getClass().getSimpleName())
                .with("store", store)
                .remedy(Protocol.useOneRelease());
    }

    @Override
    public void close() {
        closeAll(selector, channel);
    }

    private Answers.Received receive(Deadline deadline, String whatIfLate) {
        try {
            while (true) {
                ByteBuffer message = messages.next();
                if (message != null) {
                    return Answers.decode(message);
                }
                int count = messages.read(channel);
                if (count < 0) {
                    throw gone(null);
                } else if (count == 0) {
                    await(SelectionKey.OP_READ, deadline, whatIfLate);
                }
            }
        } catch (IOException broken) {
            throw gone(broken);
        } catch (BadMessage e) {
            throw otherProtocol(e);
        }
    }

    private LarderException otherProtocol(BadMessage answer) {
        Failure failure = Failure.of(ErrorCode.REFUSED, "the daemon uses another protocol")
                .with("store", store);
        SilentDaemon.pid(store).ifPresent(pid -> failure.with("pid", pid));
        if (!NOT_JSON.equals(answer.getMessage())) {
            failure.with("reason", answer.getMessage());
        }
        return failure.cause(answer).remedy(Protocol.useOneRelease());
    }

    private void await(int operation, Deadline deadline, String whatIfLate) throws IOException {
        key.interestOps(operation);
        requireTime(store, deadline, whatIfLate);
        selector.select(deadline.remainingMillis());
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(store);
        }
    }

    /**
     * Returns the daemon's reason for a broken connection. It may refuse a call and close before it has read all of it; its
     * reason can still be read.
     */
    private LarderException explainBroken(IOException broken) {
        try {
            Response response = receive(Deadline.after(silence), "the daemon closed the connection")
                    .response();
            return response instanceof Problem problem ? problem.exception() : gone(broken);
        } catch (LarderException nothingToRead) {
            nothingToRead.addSuppressed(broken);
            return nothingToRead;
        }
    }

    /** Returns whether the daemon closed the connection without an answer, as a killed one does. */
    boolean isLost() {
        return lost;
    }

    private LarderException gone(@Nullable IOException cause) {
        lost = true;
        if (cause instanceof ClosedByInterruptException) {
            return interrupted(store);
        }
        Failure failure = Failure.of(ErrorCode.NO_DAEMON, "the daemon closed the connection without an answer")
                .with("store", store);
        if (cause != null) {
            failure.with("reason", cause.getMessage()).cause(cause);
        }
        return failure.remedy(Remedy.CHECK_DAEMON);
    }

    /** Connects, and retries while the backlog of the daemon is full: then a connection to a Unix-domain socket fails immediately. */
    private static SocketChannel connect(Path store, UnixDomainSocketAddress address, Deadline deadline)
            throws IOException {
        while (true) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                channel.configureBlocking(false);
                if (channel.connect(address)) {
                    return channel;
                }
            } catch (IOException | RuntimeException failure) {
                channel.close();
                if (!isBacklogFull(failure, address.getPath())) {
                    throw failure;
                }
            }
            channel.close();
            requireTime(store, deadline, "the daemon accepted no connection");
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted(store);
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    /**
     * Returns whether a connection failed with EAGAIN. Java has no type or number for it, so this is true for every error except a
     * missing, forbidden or refusing socket.
     */
    private static boolean isBacklogFull(Exception failure, Path socket) {
        return failure instanceof SocketException
                && !(failure instanceof ConnectException)
                && Files.exists(socket)
                && Files.isWritable(socket);
    }

    private static LarderException noDaemon(Path store, IOException cause) {
        if (cause instanceof ClosedByInterruptException) {
            return interrupted(store);
        }
        Path socket = new StoreLayout(store).socket();
        if (Files.exists(socket) && !Files.isWritable(socket)) {
            return Failure.of(ErrorCode.REFUSED, "this user may not use the daemon of the store")
                    .with("store", store)
                    .with("reason", cause.getMessage())
                    .cause(cause)
                    .remedy("run as the user who started it, or start your own: larder serve --store DIR");
        }
        Failure failure =
                Failure.of(ErrorCode.NO_DAEMON, "no daemon at the store").with("store", store);
        if (!Files.notExists(socket)) {
            failure.with("reason", cause.getMessage());
        }
        return failure.cause(cause)
                .remedy(Remedy.START_DAEMON_OR_NAME_STORE
                        + (Files.exists(socket) ? "; it takes over the data of a killed daemon" : ""));
    }

    private static LarderException interrupted(Path store) {
        return Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for the daemon")
                .with("store", store)
                .exception();
    }

    private static void requireTime(Path store, Deadline deadline, String whatIfLate) {
        if (deadline.isOver()) {
            throw Failure.of(ErrorCode.DEADLINE, whatIfLate)
                    .with("store", store)
                    .with("waitedMs", deadline.timeout().toMillis())
                    .remedy(SilentDaemon.remedy(store));
        }
    }

    private static void closeAll(@Nullable AutoCloseable... resources) {
        for (AutoCloseable resource : resources) {
            if (resource != null) {
                try {
                    resource.close();
                } catch (Exception ignored) {
                    // the socket is closed even if this fails
                }
            }
        }
    }
}
