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
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Gathers random rows of an array for the processor seconds of each line of its standard input, in turns with gather.c and gather_peer.py,
 * which get the same lines. Arguments: a store, an array in it, a file of row numbers, and the rows of a batch.
 */
final class GatherProcess {
    private static final String WAY = "larder";
    private static final int PAGE_BYTES = 4096;
    private static final int LOOK_BYTES = 1 << 20;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final ArrayView array;
    private final long[][] batches;
    private final UnsafeBuffer target;
    private int next;

    private GatherProcess(ArrayView array, long[][] batches) {
        this.array = array;
        this.batches = batches;
        int byteSize = Math.toIntExact(batches[0].length * array.rowByteSize());
        ByteBuffer memory = ByteBuffer.allocateDirect(byteSize + PAGE_BYTES).alignedSlice(PAGE_BYTES);
        this.target = new UnsafeBuffer(memory, 0, byteSize);
    }

    /** See the class. */
    public static void main(String[] arguments) throws IOException {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                OwnedArrayView array = larder.open(arguments[1]);
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            BenchStore.touch(array);
            GatherProcess process =
                    new GatherProcess(array, batches(Path.of(arguments[2]), Integer.parseInt(arguments[3])));
            System.out.println("ready " + WAY + " " + Long.toUnsignedString(process.sumOfFirst()));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                double seconds = Double.parseDouble(line.substring(line.indexOf(' ')));
                System.out.println(Math.round(process.bytesPerSecond(seconds)));
            }
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

    private long sumOfFirst() {
        array.copyRows(batches[0], target, 0);
        long sum = 0;
        for (int i = 0; i < target.capacity() / Long.BYTES; i++) {
            sum += target.getLong(i * Long.BYTES) * (2L * i + 1);
        }
        return sum;
    }

    private double bytesPerSecond(double seconds) {
        int between = Math.max(1, LOOK_BYTES / target.capacity());
        long count = 0;
        long startNs = THREADS.getCurrentThreadCpuTime();
        double taken;
        do {
            for (int i = 0; i < between; i++) {
                array.copyRows(batches[next], target, 0);
                next = (next + 1) % batches.length;
            }
            count += between;
            taken = (THREADS.getCurrentThreadCpuTime() - startNs) / 1e9;
        } while (taken < seconds);
        return (double) count * target.capacity() / taken;
    }
}
