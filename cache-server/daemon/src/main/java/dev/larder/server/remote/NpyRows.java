package dev.larder.server.remote;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.ShardRows;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.reader.Target;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/** Tells by the header of a {@code .npy} object which of its bytes are the rows of a shard. */
final class NpyRows {
    /** How much is fetched of an object to see its header. */
    static final int HEAD_BYTES = 8192;

    private NpyRows() {}

    /** Returns what is to be fetched besides the head; all of an object whose rows cannot be told. */
    static Target of(Target whole, ShardRows shard) {
        try (FileChannel file = FileChannel.open(whole.path(), StandardOpenOption.READ)) {
            NpyHeader header = NpyHeader.read(file, whole.path().toString());
            long[] shape = header.shape();
            boolean isCut = shape.length > 0
                    && shape[0] > 0
                    && (header.order() == Order.C || shape.length == 1)
                    && header.dataOffset() <= HEAD_BYTES
                    && header.dataOffset() + header.byteSize() == whole.byteSize();
            if (!isCut) {
                return whole;
            }
            long rowBytes = header.byteSize() / shape[0];
            long start = header.dataOffset() + shard.first(shape[0]) * rowBytes;
            return new Target(whole.offer(), whole.path(), 0, shard.rows(shape[0]) * rowBytes, start);
        } catch (LarderException refused) {
            return whole; // the scan refuses it, with all that are like it
        } catch (IOException e) {
            throw Refusal.unreadable(whole.path(), 0, e);
        }
    }
}
