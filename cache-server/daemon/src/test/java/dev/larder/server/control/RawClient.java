package dev.larder.server.control;

import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.message.MessageReader;
import dev.larder.testing.ProtocolSamples;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A client without manners: sends what bytes it likes. */
final class RawClient implements AutoCloseable {
    private final SocketChannel channel;
    private final MessageReader messages = new MessageReader();

    RawClient(Path socket) throws IOException {
        channel = SocketChannel.open(Protocol.address(socket));
    }

    RawClient send(Request... requests) throws IOException {
        for (Request request : requests) {
            send(ProtocolSamples.encode(request));
        }
        return this;
    }

    RawClient send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.UTF_8));
    }

    RawClient send(byte[] bytes) throws IOException {
        channel.write(ByteBuffer.wrap(bytes));
        return this;
    }

    RawClient endInput() throws IOException {
        channel.shutdownOutput();
        return this;
    }

    /** Returns the next response, or null where the daemon has closed. */
    @Nullable
    Response receive() throws IOException {
        try {
            ByteBuffer message = messages.next();
            while (message == null) {
                if (messages.read(channel) < 0) {
                    return null;
                }
                message = messages.next();
            }
            return Answers.decode(message).response();
        } catch (IOException reset) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
