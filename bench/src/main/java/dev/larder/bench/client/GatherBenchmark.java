package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.bench.OpenArray;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Gathers 256 random rows into one buffer; an operation is a batch. All memory is touched before it is measured. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class GatherBenchmark extends Measured {
    private static final int BATCHES = 512;

    /** The array and its batches. */
    @State(Scope.Benchmark)
    public static class Data extends OpenArray {
        /** The length of a row in bytes. */
        @Param({"64", "256", "784", "3072", "153600"})
        public int rowBytes;

        @SuppressWarnings("NullAway.Init") // opened() sets it
        private long[][] batches;

        @Override
        protected String array() {
            return "rows-" + rowBytes;
        }

        @Override
        protected void opened() {
            batches = BenchStore.batches(BATCHES, view.rows());
        }
    }

    /** One thread's buffer and place in the list of batches. */
    @State(Scope.Thread)
    public static class Target {
        private UnsafeBuffer buffer;
        private ByteBuffer bytes;
        private int next;

        /** Allocates and touches the buffer. */
        @Setup
        public void allocate(Data data) {
            bytes = ByteBuffer.allocateDirect(BenchStore.BATCH * data.rowBytes);
            buffer = new UnsafeBuffer(bytes);
            buffer.setMemory(0, buffer.capacity(), (byte) 1);
            next = (int) Thread.currentThread().getId() * 7;
        }

        long[] batch(Data data) {
            next = (next + 1) & (BATCHES - 1);
            return data.batches[next];
        }
    }

    /** The same bytes in one array on the heap. */
    @State(Scope.Benchmark)
    public static class HeapCopy {
        private byte[] bytes;

        /** Copies the array. */
        @Setup
        public void copy(Data data) {
            bytes = new byte[(int) data.view.byteSize()];
            data.view.byteBuffer(0, data.view.rows()).get(bytes);
        }
    }

    /** The same file through a channel. */
    @State(Scope.Benchmark)
    public static class OpenFile {
        private FileChannel channel;
        private long offset;

        /** Opens the file that the daemon published. */
        @Setup
        public void open(Data data) throws IOException {
            Path folder = BenchStore.path().resolve("data").resolve(BenchStore.DATASET);
            Path file = folder.resolve(Long.toString(data.dataset.version())).resolve(data.view.name() + ".npy");
            channel = FileChannel.open(file);
            offset = Files.size(file) - data.view.byteSize();
        }

        /** Closes it. */
        @TearDown
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Larder: straight from shared memory. */
    @Benchmark
    public UnsafeBuffer larder(Data data, Target target) {
        data.view.copyRows(target.batch(data), target.buffer, 0);
        return target.buffer;
    }

    /** A private copy on the heap. */
    @Benchmark
    public UnsafeBuffer heapArray(Data data, Target target, HeapCopy heap) {
        int at = 0;
        for (long row : target.batch(data)) {
            target.buffer.putBytes(at, heap.bytes, (int) row * data.rowBytes, data.rowBytes);
            at += data.rowBytes;
        }
        return target.buffer;
    }

    /** One positional read per row. */
    @Benchmark
    public ByteBuffer fileChannel(Data data, Target target, OpenFile file) throws IOException {
        int at = 0;
        for (long row : target.batch(data)) {
            target.bytes.limit(at + data.rowBytes).position(at);
            file.channel.read(target.bytes, file.offset + row * data.rowBytes);
            at += data.rowBytes;
        }
        return target.bytes;
    }
}
