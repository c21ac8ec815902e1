package dev.larder.server.control;

import dev.larder.internal.protocol.FrameReader;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.RequestCodec;
import dev.larder.internal.protocol.Response;
import dev.larder.internal.protocol.ResponseCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A client without manners: sends what bytes it likes. */
final class RawClient implements AutoCloseable {
    private final SocketChannel channel;
    private final FrameReader frames = new FrameReader(Protocol.MAX_RESPONSE_LENGTH);

    RawClient(Path socket) throws IOException {
        channel = SocketChannel.open(Protocol.address(socket));
    }

    static Request.Hello hello() {
        return new Request.Hello(Protocol.MAJOR, Protocol.MINOR, 1, "raw");
    }

    RawClient send(Request... requests) throws IOException {
        for (Request request : requests) {
            channel.write(new RequestCodec().encode(request));
        }
        return this;
    }

    RawClient send(byte[] bytes) throws IOException {
        channel.write(ByteBuffer.wrap(bytes));
        return this;
    }

    RawClient sendLength(int length) throws IOException {
        return send(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .array());
    }

    /** Returns the next response, or null where the daemon has closed. */
    @Nullable
    Response receive() throws IOException {
        try {
            ByteBuffer frame = frames.next();
            while (frame == null) {
                if (frames.read(channel) < 0) {
                    return null;
                }
                frame = frames.next();
            }
            return new ResponseCodec().decode(frame);
        } catch (IOException reset) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
