package dev.larder.bench.loader;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A training run as other programs see it: opens its data, does what it is told, and says a line after each: {@code step} gathers
 * the first batch and adds it up, {@code epoch} does so with all batches of a shuffled epoch, {@code touch} reads every row in
 * order, {@code loop} does epochs until nobody listens, and {@code hold} waits until the standard input ends. The sums of {@code epoch} and of
 * {@code touch} are the same in every process, in Python too.
 */
final class Trainer {
    private static final int BATCH = 256;

    private final TrainingRows data;
    private final ByteBuffer batch;

    private Trainer(TrainingRows data) {
        this.data = data;
        this.batch = ByteBuffer.allocateDirect(BATCH * data.imageByteSize()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Takes {@code plain FOLDER} or {@code larder STORE}, a seed, and what to do. */
    public static void main(String[] arguments) throws IOException {
        Path place = Path.of(arguments[1]);
        long seed = Long.parseLong(arguments[2]);
        try (TrainingRows data = arguments[0].equals("plain") ? PlainRows.read(place) : LarderRows.open(place)) {
            Trainer trainer = new Trainer(data);
            for (String command : List.of(arguments).subList(3, arguments.length)) {
                System.out.println(command + " " + trainer.obey(command, seed));
            }
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
