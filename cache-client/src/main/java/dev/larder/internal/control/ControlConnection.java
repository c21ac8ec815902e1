package dev.larder.internal.control;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.FrameReader;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.ReleaseVersion;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.RequestCodec;
import dev.larder.internal.protocol.Response;
import dev.larder.internal.protocol.ResponseCodec;
import dev.larder.internal.protocol.Welcome;
import dev.larder.internal.time.Deadline;
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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One connection to a daemon, good for one request. Every step waits at most for the longest silence allowed. */
final class ControlConnection implements AutoCloseable {
    private static final long RETRY_NANOS = 2_000_000;

    private final Path store;
    private Duration silence;
    private final Selector selector;
    private final SocketChannel channel;
    private final SelectionKey key;
    private final FrameReader frames = new FrameReader(Protocol.MAX_RESPONSE_LENGTH);
    private final RequestCodec requests = new RequestCodec();
    private final ResponseCodec responses = new ResponseCodec();
    private @Nullable Welcome welcome;
    private boolean lost;

    private ControlConnection(Path store, Duration silence, Selector selector, SocketChannel channel)
            throws IOException {
        this.store = store;
        this.silence = silence;
        this.selector = selector;
        this.channel = channel;
        this.key = channel.register(selector, SelectionKey.OP_READ);
    }

    /** Connects and shakes hands. */
    static ControlConnection open(Path store, Duration silence) {
        UnixDomainSocketAddress address = Protocol.address(new StoreLayout(store).socket());
        if (Files.exists(store, LinkOption.NOFOLLOW_LINKS)) {
            StoreLocation.requireTrustedOwner(store);
        }
        SocketChannel channel = null;
        ControlConnection connection = null;
        try {
            channel = connect(store, address, Deadline.after(silence));
            connection = new ControlConnection(store, silence, Selector.open(), channel);
            connection.shakeHands();
            return connection;
        } catch (IOException noDaemon) {
            closeAll(connection, channel);
            throw noDaemon(store, noDaemon);
        } catch (RuntimeException | Error failure) {
            closeAll(connection, channel);
            throw failure;
        }
    }

    /** Returns who answered. */
    Welcome welcome() {
        if (welcome == null) {
            throw new IllegalStateException("no handshake yet");
        }
        return welcome;
    }

    /** Waits from now on however long the daemon says nothing: one that was stopped may go on. */
    void disableTimeout() {
        silence = Deadline.FOREVER;
    }

    /** Sends one request. */
    void send(Request request) {
        ByteBuffer frame = requests.encode(request);
        Deadline deadline = Deadline.after(silence);
        try {
            while (frame.hasRemaining()) {
                if (channel.write(frame) == 0) {
                    await(SelectionKey.OP_WRITE, deadline, "the daemon accepted no request");
                }
            }
        } catch (IOException broken) {
            throw explainBroken(broken);
        }
    }

    /** Waits until the daemon is done, and tells how far it is. */
    Done finish(ProgressListener progress, Deadline end) {
        Response response = nextAnswer(progress, end);
        if (response instanceof Done done) {
            return done;
        }
        throw unexpected(response);
    }

    /** Collects answers of one kind until the daemon is done. */
    <T extends Response> List<T> collect(Class<T> kind, Deadline end) {
        List<T> answers = new ArrayList<>();
        Response response = nextAnswer(ProgressListener.NONE, end);
        while (!(response instanceof Done)) {
            if (!kind.isInstance(response)) {
                throw unexpected(response);
            }
            answers.add(kind.cast(response));
            response = nextAnswer(ProgressListener.NONE, end);
        }
        return answers;
    }

    /** Returns the turn to build, or nothing where what was to be built is resident. */
    Optional<Build> awaitTurn(ProgressListener progress, Deadline end) {
        Response response = nextAnswer(progress, end);
        if (response instanceof Build build) {
            return Optional.of(build);
        } else if (response instanceof Done) {
            return Optional.empty();
        }
        throw unexpected(response);
    }

    /** Returns the next response that is no progress; what the daemon refuses is thrown. */
    private Response nextAnswer(ProgressListener progress, Deadline end) {
        while (true) {
            Response response = end.remaining().compareTo(silence) <= 0
                    ? receive(end, "the deadline passed")
                    : receive(Deadline.after(silence), "the daemon sent nothing");
            if (response instanceof Problem problem) {
                throw problem.exception();
            } else if (response instanceof Progress step) {
                progress.progress(step);
            } else {
                return response;
            }
        }
    }

    /** Returns the one answer of a kind. */
    <T> T only(List<T> answers, String kind) {
        if (answers.size() != 1) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the daemon's answer does not match the request")
                    .with("asked", kind)
                    .with("answers", answers.size())
                    .with("store", store)
                    .remedy("restart the daemon: its version may differ from the client's");
        }
        return answers.get(0);
    }

    @Override
    public void close() {
        closeAll(selector, channel);
    }

    private void shakeHands() {
        send(new Request.Hello(
                Protocol.MAJOR, Protocol.MINOR, ProcessHandle.current().pid(), ReleaseVersion.text()));
        Response response = receive(Deadline.after(silence), "the daemon did not complete the handshake");
        if (response instanceof Problem problem) {
            throw problem.exception();
        } else if (response instanceof Welcome answer) {
            if (answer.protocolMajor() != Protocol.MAJOR) {
                throw Failure.of(ErrorCode.REFUSED, "the daemon speaks another protocol")
                        .with("daemonProtocol", answer.protocolMajor() + "." + answer.protocolMinor())
                        .with("clientProtocol", Protocol.MAJOR + "." + Protocol.MINOR)
                        .with("daemonVersion", answer.daemonVersion())
                        .with("store", store)
                        .remedy(Protocol.useOneRelease(answer.daemonPid()));
            }
            welcome = answer;
        } else {
            throw unexpected(response);
        }
    }

    private Response receive(Deadline deadline, String whatIfLate) {
        try {
            while (true) {
                ByteBuffer frame = frames.next();
                if (frame != null) {
                    return responses.decode(frame);
                }
                int count = frames.read(channel);
                if (count < 0) {
                    throw gone(null);
                } else if (count == 0) {
                    await(SelectionKey.OP_READ, deadline, whatIfLate);
                }
            }
        } catch (IOException broken) {
            throw gone(broken);
        }
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

    /** A daemon that refuses and closes may do so before it has read what we send: its reason is waiting to be read. */
    private LarderException explainBroken(IOException broken) {
        try {
            Response response = receive(Deadline.after(silence), "the daemon closed the connection");
            return response instanceof Problem problem ? problem.exception() : gone(broken);
        } catch (LarderException nothingToRead) {
            nothingToRead.addSuppressed(broken);
            return nothingToRead;
        }
    }

    /** Tells whether the daemon went away without a word, as it does when it is killed. */
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

    private LarderException unexpected(Response response) {
        return Failure.of(ErrorCode.UNEXPECTED, "the daemon sent an unexpected message")
                .with("message", response.getClass().getSimpleName())
                .with("store", store)
                .remedy("restart the daemon: its version may differ from the client's");
    }

    /** Connecting to a Unix-domain socket never hangs half-way: where the daemon's backlog is full it fails at once, so ask again. */
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

    /** EAGAIN comes without a type or a number of its own; what is neither absent, nor forbidden, nor refused, is that. */
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
                        + (Files.exists(socket) ? "; it takes over what a killed daemon left" : ""));
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
                    // a socket that does not close cleanly is closed all the same
                }
            }
        }
    }
}
