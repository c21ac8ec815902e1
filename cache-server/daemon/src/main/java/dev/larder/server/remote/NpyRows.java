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

/** Finds the rows of a shard in a {@code .npy} object, by its header. */
final class NpyRows {
    /** How much of an object is fetched for its header. */
    static final int HEAD_BYTES = 8192;

    private NpyRows() {}

    /** Returns the part to fetch besides the head: all of the object if its rows cannot be found. */
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
