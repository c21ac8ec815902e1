package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Gathers 256 random rows into one buffer; an operation is a batch. All memory is touched before it is measured. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class GatherBenchmark {
    private static final int BATCHES = 512;

    /** The array, its batches, and the peers' copies of it. */
    @State(Scope.Benchmark)
    public static class Data {
        /** The length of a row in bytes. */
        @Param({"64", "256", "784", "3072", "153600"})
        public int rowBytes;

        private Larder larder;
        private Dataset dataset;
        private ArrayView view;
        private long[][] batches;

        /** Opens the array and reads all of it once. */
        @Setup
        public void open() {
            larder = Larder.connect(BenchStore.path());
            dataset = larder.dataset(BenchStore.DATASET);
            view = dataset.array("rows-" + rowBytes);
            batches = BenchStore.batches(BATCHES, view.rows());
            CRC32C crc = new CRC32C();
            crc.update(view.byteBuffer(0, view.rows()));
            if ((int) crc.getValue() != view.crc32c()) {
                throw new IllegalStateException("bytes are not what was loaded");
            }
        }

        /** Gives everything back. */
        @TearDown
        public void close() {
            larder.close();
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
            Path dataset = BenchStore.path().resolve("data").resolve(BenchStore.DATASET);
            Path version = dataset.resolve(Long.toString(data.dataset.version()));
            Path file = version.resolve(data.view.name() + ".npy");
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
