package dev.larder.command;

import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.npy.NpyHeader;
import java.io.EOFException;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/** A trainer that reads every byte of an array, says the bytes' checksum, and keeps what it has until its input ends. */
final class WholeReader {
    private WholeReader() {}

    /** Takes {@code shared STORE ARRAY}, or {@code own FILE} to load a {@code .npy} file into memory of its own. */
    public static void main(String[] arguments) throws IOException {
        if (arguments[0].equals("own")) {
            tellAndHold(load(Path.of(arguments[1])));
        } else {
            try (Larder larder = Larder.connect(Path.of(arguments[1]));
                    OwnedArrayView view = larder.open(arguments[2])) {
                tellAndHold(view.byteBuffer(0, view.rows()));
            }
        }
    }

    private static void tellAndHold(ByteBuffer data) throws IOException {
        CRC32C crc = new CRC32C();
        crc.update(data.duplicate());
        try {
            System.out.println("crc " + crc.getValue());
            System.in.read();
        } finally {
            Reference.reachabilityFence(data);
        }
    }

    private static ByteBuffer load(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            NpyHeader header = NpyHeader.read(channel, file.toString());
            channel.position(header.dataOffset());
            ByteBuffer data = ByteBuffer.allocateDirect(Math.toIntExact(header.byteSize()));
            while (data.hasRemaining()) {
                if (channel.read(data) < 0) {
                    throw new EOFException(file.toString());
                }
            }
            return data.flip();
        }
    }
}
