package dev.larder.bench.loader;

import dev.larder.npy.NpyHeader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Images and labels that this process has read into memory of its own, as programs do that share nothing. */
final class PlainRows implements TrainingRows {
    private static final int READ_BYTES = 64 << 20;

    private final ByteBuffer images;
    private final ByteBuffer labels;
    private final int imageByteSize;

    private PlainRows(ByteBuffer images, ByteBuffer labels) {
        this.images = images;
        this.labels = labels;
        this.imageByteSize = images.capacity() / (labels.capacity() / Long.BYTES);
    }

    /** Reads both files of a folder. */
    static PlainRows read(Path folder) throws IOException {
        return new PlainRows(array(folder.resolve(IMAGES + ".npy")), array(folder.resolve(LABELS + ".npy")));
    }

    private static ByteBuffer array(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            NpyHeader header = NpyHeader.read(channel, file.toString());
            ByteBuffer data = ByteBuffer.allocateDirect(Math.toIntExact(header.byteSize()));
            channel.position(header.dataOffset());
            while (data.hasRemaining()) {
                data.limit(data.position() + Math.min(data.remaining(), READ_BYTES));
                if (channel.read(data) < 0) {
                    throw new EOFException("file is shorter than its header says: path=" + file);
                }
                data.limit(data.capacity());
            }
            return data.order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    @Override
    public long rows() {
        return labels.capacity() / Long.BYTES;
    }

    @Override
    public int imageByteSize() {
        return imageByteSize;
    }

    @Override
    public void gather(long[] rows, ByteBuffer target) {
        for (int i = 0; i < rows.length; i++) {
            target.put(i * imageByteSize, images, (int) (rows[i] * imageByteSize), imageByteSize);
        }
    }

    @Override
    public long label(long row) {
        return labels.getLong((int) row * Long.BYTES);
    }

    @Override
    public void close() {
        // the memory goes with the process
    }
}
