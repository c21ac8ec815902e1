package dev.larder.server.control;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Packs messages into few writes. Shared by all connections, and used by the control thread only. */
final class OutputBatch {
    private static final int CAPACITY = 64 * 1024;
    private static final int MAX_BATCHES = 8;

    private final ByteBuffer batch = ByteBuffer.allocateDirect(CAPACITY);

    /**
     * Writes until the channel accepts no more, there are no messages, or other connections should have their turn. Returns the unsent
     * bytes, or null if there are none.
     */
    @Nullable
    ByteBuffer write(Supplier<byte @Nullable []> messages, WritableByteChannel channel) throws IOException {
        for (int count = 0; count < MAX_BATCHES; count++) {
            ByteBuffer overhang = fill(messages);
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

    /** Fills the batch, and returns the first message that does not fit. */
    private @Nullable ByteBuffer fill(Supplier<byte @Nullable []> messages) {
        batch.clear();
        for (byte[] next = messages.get(); next != null; next = messages.get()) {
            if (next.length > batch.remaining()) {
                return ByteBuffer.wrap(next);
            }
            batch.put(next);
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
