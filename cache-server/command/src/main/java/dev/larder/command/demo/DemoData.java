package dev.larder.command.demo;

import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;

/** Random images with labels, as two {@code .npy} files. */
public final class DemoData {
    /** Number of images. */
    public static final int ROWS = 40_000;

    private static final int SIDE = 28;
    private static final int CLASSES = 10;
    private static final int ALIGNMENT = 64;

    private DemoData() {}

    /** Writes {@code image.npy} and {@code label.npy} into a folder; equal seeds give equal files. */
    public static void write(Path folder, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] pixels = new byte[ROWS * SIDE * SIDE];
        random.nextBytes(pixels);
        byte[] labels = new byte[ROWS];
        for (int row = 0; row < ROWS; row++) {
            labels[row] = (byte) random.nextInt(CLASSES);
        }
        write(folder.resolve("image.npy"), pixels, ROWS, SIDE, SIDE);
        write(folder.resolve("label.npy"), labels, ROWS);
    }

    private static void write(Path file, byte[] values, long... shape) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer header = NpyHeader.of(Dtype.parse("|u1"), Order.C, shape).encode(ALIGNMENT);
            ByteBuffer data = ByteBuffer.wrap(values);
            while (header.hasRemaining() || data.hasRemaining()) {
                channel.write(header.hasRemaining() ? header : data);
            }
        }
    }
}
