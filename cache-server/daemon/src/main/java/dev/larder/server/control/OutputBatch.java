package dev.larder.server.control;

import dev.larder.internal.protocol.Response;
import dev.larder.internal.protocol.ResponseCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/** Packs frames into few writes. One for all connections, used by the control thread only. */
final class OutputBatch {
    private static final int CAPACITY = 64 * 1024;
    private static final int MAX_BATCHES = 8;

    private final ResponseCodec codec = new ResponseCodec();
    private final ByteBuffer batch = ByteBuffer.allocateDirect(CAPACITY);

    /**
     * Writes until the channel takes no more, the outbox is empty, or others should have their turn. Returns the bytes that
     * are encoded and not taken, or null where there are none.
     */
    @Nullable
    ByteBuffer write(Outbox outbox, WritableByteChannel channel) throws IOException {
        for (int count = 0; count < MAX_BATCHES; count++) {
            ByteBuffer overhang = fill(outbox);
            if (batch.position() == 0 && overhang == null) {
                return null;
            }
            batch.flip();
            channel.write(batch);
            if (!batch.hasRemaining() && overhang != null) {
                channel.write(overhang);
            }
            if (batch.hasRemaining() || (overhang != null && overhang.hasRemaining())) {
                return rest(overhang);
            }
        }
        return ByteBuffer.allocate(0);
    }

    /** Encodes into the batch, and returns the frame that found no room in it. */
    private @Nullable ByteBuffer fill(Outbox outbox) {
        batch.clear();
        for (Response next = outbox.poll(); next != null; next = outbox.poll()) {
            ByteBuffer frame = codec.encode(next);
            if (frame.remaining() > batch.remaining()) {
                return frame;
            }
            batch.put(frame);
        }
        return null;
    }

    private ByteBuffer rest(@Nullable ByteBuffer overhang) {
        ByteBuffer rest = ByteBuffer.allocate(batch.remaining() + (overhang == null ? 0 : overhang.remaining()));
        rest.put(batch);
        if (overhang != null) {
            rest.put(overhang);
        }
        return rest.flip();
    }
}
