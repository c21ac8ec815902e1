package dev.larder.internal.control;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.message.Call;
import dev.larder.message.MessageReader;
import dev.larder.testing.ProtocolSamples;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/** Serves one connection by a script: after each request, the next list of answers. */
final class ScriptedDaemon implements AutoCloseable {
    private final ServerSocketChannel listener;
    private final List<List<Response>> script = new CopyOnWriteArrayList<>();
    private final List<Request> received = new CopyOnWriteArrayList<>();
    private final Thread thread = new Thread(this::serve, "scripted-daemon");
    private final List<SocketChannel> fillers = new ArrayList<>();
    private volatile boolean hangUp;

    ScriptedDaemon(Path store) throws IOException {
        this(store, 1);
    }

    private ScriptedDaemon(Path store, int backlog) throws IOException {
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(Protocol.address(new StoreLayout(store).socket()), backlog);
    }

    /** Listens with room for nobody: whoever connects finds the backlog full. */
    static ScriptedDaemon thatNeverAccepts(Path store) throws IOException {
        ScriptedDaemon daemon = new ScriptedDaemon(store, 1);
        try {
            while (true) {
                SocketChannel filler = SocketChannel.open(StandardProtocolFamily.UNIX);
                daemon.fillers.add(filler);
                filler.configureBlocking(false);
                filler.connect(daemon.listener.getLocalAddress());
            }
        } catch (SocketException full) {
            return daemon;
        }
    }

    ScriptedDaemon answer(Response... responses) {
        script.add(List.of(responses));
        return started();
    }

    ScriptedDaemon hangUp() {
        hangUp = true;
        return started();
    }

    private ScriptedDaemon started() {
        if (!thread.isAlive()) {
            thread.start();
        }
        return this;
    }

    List<Request> received() {
        return received;
    }

    @Override
    public void close() throws IOException {
        for (SocketChannel filler : fillers) {
            filler.close();
        }
        listener.close();
        thread.interrupt();
    }

    private void serve() {
        try (SocketChannel channel = listener.accept()) {
            MessageReader messages = new MessageReader();
            while (messages.read(channel) >= 0) {
                ByteBuffer message = messages.next();
                if (message != null) {
                    received.add((Request) Objects.requireNonNull(
                            Call.decode(message, Protocol.METHODS).parameters()));
                    if (!answer(channel)) {
                        return;
                    }
                }
            }
        } catch (IOException closed) {
            // the test is over
        }
    }

    private boolean answer(SocketChannel channel) throws IOException {
        int step = received.size() - 1;
        if (step >= script.size()) {
            return !hangUp;
        }
        for (Response response : script.get(step)) {
            channel.write(ByteBuffer.wrap(ProtocolSamples.encode(response)));
        }
        return true;
    }
}
