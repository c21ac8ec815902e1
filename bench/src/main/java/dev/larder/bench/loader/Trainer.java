package dev.larder.bench.loader;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.npy.NpyHeader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A training run as other programs see it. It opens its data and obeys commands, with a line after each: {@code step} gathers the first
 * batch and adds it up, {@code epoch} does so with all batches of a shuffled epoch, {@code touch} reads every row in order, {@code loop}
 * does epochs until its output is closed, and {@code hold} waits for the end of the standard input. The sums of {@code epoch} and {@code
 * touch} are the same in every process, also in Python.
 */
final class Trainer {
    private static final int BATCH = 256;
    private static final int READ_BYTES = 64 << 20;

    private final TrainingRows data;
    private final ByteBuffer batch;

    private Trainer(TrainingRows data) {
        this.data = data;
        this.batch = ByteBuffer.allocateDirect(BATCH * data.imageByteSize()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Arguments: {@code plain FOLDER} or {@code larder STORE}, a seed, and commands. */
    public static void main(String[] arguments) throws IOException {
        Path place = Path.of(arguments[1]);
        if (arguments[0].equals("plain")) {
            TrainingRows data = new PlainRows(read(place.resolve("images.npy")), read(place.resolve("labels.npy")));
            new Trainer(data).obeyAll(arguments);
            return;
        }
        try (Larder larder = Larder.connect(place);
                Dataset dataset = larder.dataset("training")) {
            new Trainer(new LarderRows(dataset.array("images"), dataset.array("labels"))).obeyAll(arguments);
        }
    }

    private void obeyAll(String[] arguments) throws IOException {
        for (String command : List.of(arguments).subList(3, arguments.length)) {
            System.out.println(command + " " + obey(command, Long.parseLong(arguments[2])));
        }
    }

    /** Images with labels. */
    private interface TrainingRows {
        long rows();

        int imageByteSize();

        /** Copies images to the target, one after the other from its beginning, without moving its position. */
        void gather(long[] rows, ByteBuffer target);

        long label(long row);
    }

    /** Images and labels of a store. */
    private record LarderRows(ArrayView images, ArrayView labels) implements TrainingRows {
        @Override
        public long rows() {
            return images.rows();
        }

        @Override
        public int imageByteSize() {
            return Math.toIntExact(images.rowByteSize());
        }

        @Override
        public void gather(long[] rows, ByteBuffer target) {
            images.copyRows(rows, target, 0);
        }

        @Override
        public long label(long row) {
            return labels.getLong(row);
        }
    }

    /** Images and labels in memory of this process, as in programs that share nothing. */
    private record PlainRows(ByteBuffer images, ByteBuffer labels) implements TrainingRows {
        @Override
        public long rows() {
            return labels.capacity() / Long.BYTES;
        }

        @Override
        public int imageByteSize() {
            return (int) (images.capacity() / rows());
        }

        @Override
        public void gather(long[] rows, ByteBuffer target) {
            int length = imageByteSize();
            for (int i = 0; i < rows.length; i++) {
                target.put(i * length, images, (int) (rows[i] * length), length);
            }
        }

        @Override
        public long label(long row) {
            return labels.getLong((int) row * Long.BYTES);
        }
    }

    private static ByteBuffer read(Path file) throws IOException {
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

    private long obey(String command, long seed) throws IOException {
        return switch (command) {
            case "step" -> sum(shuffled(seed), 0);
            case "epoch" -> sum(shuffled(seed));
            case "touch" -> sum(inOrder());
            case "loop" -> loop(seed);
            case "hold" -> System.in.read();
            default -> throw new IllegalArgumentException("no such command: " + command);
        };
    }

    private long loop(long seed) {
        long epoch = 0;
        while (!System.out.checkError()) {
            System.out.println("looped " + sum(shuffled(seed + epoch)));
            epoch++;
        }
        return epoch;
    }

    private long[] inOrder() {
        long[] order = new long[Math.toIntExact(data.rows())];
        Arrays.setAll(order, i -> i);
        return order;
    }

    private long[] shuffled(long seed) {
        long[] order = inOrder();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = order.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            long row = order[i];
            order[i] = order[j];
            order[j] = row;
        }
        return order;
    }

    private long sum(long[] order) {
        long sum = 0;
        for (int first = 0; first < order.length; first += BATCH) {
            sum += sum(order, first);
        }
        return sum;
    }

    /** Gathers one batch and adds up its 8-byte words and its labels. */
    private long sum(long[] order, int first) {
        long[] rows = Arrays.copyOfRange(order, first, Math.min(first + BATCH, order.length));
        data.gather(rows, batch);
        long sum = 0;
        for (int at = 0; at < rows.length * data.imageByteSize(); at += Long.BYTES) {
            sum += batch.getLong(at);
        }
        for (long row : rows) {
            sum += data.label(row);
        }
        return sum;
    }
}
