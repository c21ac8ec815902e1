package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Quantiles;
import dev.larder.bench.Rows;
import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;

/**
 * A reader that obeys the lines of its standard input: {@code open} opens the first dataset, prints the nanoseconds, and reads it all;
 * {@code map PATH} maps a file in the same way; {@code loop} opens and reads datasets at random until the next line; {@code gather} gathers
 * batches of random rows of the first dataset, and prints quantiles of their times at each line; {@code end} ends.
 */
final class ReaderProcess {
    private static final long PAUSE_MS = 5;

    private final Larder larder;
    private final List<String> datasets;

    private ReaderProcess(Larder larder, List<String> datasets) {
        this.larder = larder;
        this.datasets = datasets;
    }

    /** Arguments: the store and the datasets. */
    public static void main(String[] arguments) throws Exception {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            ReaderProcess reader = new ReaderProcess(larder, List.of(arguments).subList(1, arguments.length));
            System.out.println("ready");
            for (String line = input.readLine(); line != null && !line.equals("end"); line = input.readLine()) {
                switch (line) {
                    case "loop" -> reader.loop(input);
                    case "open" -> reader.open();
                    case "gather" -> reader.gather(input);
                    default -> map(Path.of(line.substring("map ".length())));
                }
            }
        }
    }

    private void open() {
        long startNs = System.nanoTime();
        try (Dataset dataset = larder.dataset(datasets.get(0))) {
            ArrayView view = dataset.array(dataset.arrayNames().get(0));
            byte first = view.row(0).getByte(0);
            System.out.println(System.nanoTime() - startNs);
            System.out.println("sum " + (first + sum(view)));
        }
    }

    private static void map(Path file) throws IOException {
        long startNs = System.nanoTime();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            long sum = mapped.get(0);
            System.out.println(System.nanoTime() - startNs);
            while (mapped.remaining() >= Long.BYTES) {
                sum += mapped.getLong();
            }
            System.out.println("sum " + sum);
        }
    }

    private void loop(BufferedReader input) throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom();
        while (!input.ready()) {
            try (Dataset dataset = larder.dataset(datasets.get(random.nextInt(datasets.size())))) {
                sum(dataset.array(dataset.arrayNames().get(0)));
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        }
    }

    private void gather(BufferedReader input) throws IOException {
        try (Dataset dataset = larder.dataset(datasets.get(0))) {
            ArrayView view = dataset.array(dataset.arrayNames().get(0));
            SplittableRandom random = new SplittableRandom(BenchStore.SEED);
            long[] rows = new long[BenchStore.BATCH];
            ByteBuffer target = ByteBuffer.allocateDirect(Math.toIntExact(rows.length * view.rowByteSize()));
            for (String line = ""; line != null && !line.equals("end"); line = input.readLine()) {
                List<Long> nanos = new ArrayList<>();
                while (!input.ready()) {
                    Arrays.setAll(rows, i -> random.nextLong(view.rows()));
                    long startNs = System.nanoTime();
                    view.copyRows(rows, target, 0);
                    nanos.add(System.nanoTime() - startNs);
                }
                Rows.print(Quantiles.of(nanos));
            }
        }
    }

    private static long sum(ArrayView view) {
        long sum = 0;
        for (long row = 0; row < view.shape()[0]; row++) {
            DirectBuffer bytes = view.row(row);
            for (int at = 0; at + Long.BYTES <= bytes.capacity(); at += Long.BYTES) {
                sum += bytes.getLong(at);
            }
        }
        return sum;
    }
}
