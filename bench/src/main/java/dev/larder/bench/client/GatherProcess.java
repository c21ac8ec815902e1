package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.client.ArrayView;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Gathers random rows of an array in the way and for the processor seconds of each line of its standard input, in turns with gather.c and
 * gather_peer.py, which get such lines. The ways are {@code larder}, a copy of the array on the heap, and the file through a channel.
 * Arguments: the ways, a store, an array in it, the array's file, a file of row numbers, and the rows of a batch.
 */
final class GatherProcess {
    private static final int PAGE_BYTES = 4096;
    private static final int LOOK_BYTES = 1 << 20;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final ArrayView array;
    private final Path file;
    private final long[][] batches;
    private final int rowBytes;
    private final ByteBuffer bytes;
    private final UnsafeBuffer target;
    private int next;

    private GatherProcess(ArrayView array, Path file, long[][] batches) {
        this.array = array;
        this.file = file;
        this.batches = batches;
        this.rowBytes = Math.toIntExact(array.rowByteSize());
        ByteBuffer memory = ByteBuffer.allocateDirect(batches[0].length * rowBytes + PAGE_BYTES);
        this.bytes = memory.alignedSlice(PAGE_BYTES).slice(0, batches[0].length * rowBytes);
        this.target = new UnsafeBuffer(bytes);
    }

    /** See the class. */
    public static void main(String[] arguments) throws IOException {
        try (Larder larder = Larder.connect(Path.of(arguments[1]));
                OwnedArrayView array = larder.open(arguments[2]);
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            BenchStore.touch(array);
            long[][] batches = batches(Path.of(arguments[4]), Integer.parseInt(arguments[5]));
            new GatherProcess(array, Path.of(arguments[3]), batches).run(arguments[0].split(",", -1), input);
        }
    }

    private static long[][] batches(Path file, int batch) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            LongBuffer indices = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size())
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .asLongBuffer();
            long[][] batches = new long[indices.capacity() / batch][batch];
            for (long[] rows : batches) {
                indices.get(rows);
            }
            return batches;
        }
    }

    /** A way to copy rows to the target. */
    private interface Way {
        void gather(long[] rows) throws IOException;
    }

    private void run(String[] names, BufferedReader input) throws IOException {
        Way[] ways = new Way[names.length];
        for (int i = 0; i < names.length; i++) {
            ways[i] = way(names[i]);
            System.out.println("ready " + names[i] + " " + Long.toUnsignedString(sumOfFirst(ways[i])));
        }
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ", -1);
            Way way = ways[List.of(names).indexOf(words[0])];
            System.out.println(Math.round(bytesPerSecond(way, Double.parseDouble(words[1]))));
        }
    }

    private Way way(String name) throws IOException {
        return switch (name) {
            case "larder" -> rows -> array.copyRows(rows, target, 0);
            case "heap-array" -> fromHeap();
            case "FileChannel" -> fromChannel();
            default -> throw new IllegalArgumentException("no such way: " + name);
        };
    }

    private Way fromHeap() {
        byte[] copy = new byte[Math.toIntExact(array.byteSize())];
        array.byteBuffer(0, array.rows()).get(copy);
        return rows -> {
            for (int i = 0; i < rows.length; i++) {
                target.putBytes(i * rowBytes, copy, (int) rows[i] * rowBytes, rowBytes);
            }
        };
    }

    /** One positional read per row. The channel stays open until the process ends. */
    private Way fromChannel() throws IOException {
        FileChannel channel = FileChannel.open(file);
        long offset = Files.size(file) - array.byteSize();
        return rows -> {
            for (int i = 0; i < rows.length; i++) {
                bytes.limit((i + 1) * rowBytes).position(i * rowBytes);
                channel.read(bytes, offset + rows[i] * rowBytes);
            }
        };
    }

    private long sumOfFirst(Way way) throws IOException {
        way.gather(batches[0]);
        long sum = 0;
        for (int i = 0; i < target.capacity() / Long.BYTES; i++) {
            sum += target.getLong(i * Long.BYTES) * (2L * i + 1);
        }
        return sum;
    }

    private double bytesPerSecond(Way way, double seconds) throws IOException {
        int between = Math.max(1, LOOK_BYTES / target.capacity());
        long count = 0;
        long startNs = THREADS.getCurrentThreadCpuTime();
        double taken;
        do {
            for (int i = 0; i < between; i++) {
                way.gather(batches[next]);
                next = (next + 1) % batches.length;
            }
            count += between;
            taken = (THREADS.getCurrentThreadCpuTime() - startNs) / 1e9;
        } while (taken < seconds);
        return (double) count * target.capacity() / taken;
    }
}
