package dev.larder.bench.client;

import dev.larder.bench.BenchStore;
import dev.larder.bench.Measured;
import dev.larder.client.ArrayView;
import dev.larder.client.Larder;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Reads single elements of a float32 matrix at random places that fit into the cache; an operation reads one element. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@State(Scope.Benchmark)
@OperationsPerInvocation(ElementBenchmark.READS)
public class ElementBenchmark extends Measured {
    static final int READS = 1024;
    private static final int ROWS = 64;

    private Larder larder;
    private ArrayView view;
    private DirectBuffer row;
    private UnsafeBuffer plain;
    private long[] rows;
    private long[] columns;
    private int width;

    /** Opens the matrix and draws the places. */
    @Setup
    public void open() {
        larder = Larder.connect(BenchStore.path());
        view = larder.dataset(BenchStore.DATASET).array("floats");
        row = view.row(0);
        width = (int) view.shape()[1];
        plain = new UnsafeBuffer(view.address(), Math.toIntExact(view.byteSize()));
        SplittableRandom random = new SplittableRandom(BenchStore.SEED);
        rows = random.longs(READS, 0, ROWS).toArray();
        columns = random.longs(READS, 0, width).toArray();
    }

    /** Closes everything. */
    @TearDown
    public void close() {
        larder.close();
    }

    /** {@code view.getFloat(i, j)}: bounds, strides, open flag. */
    @Benchmark
    public float view() {
        float sum = 0;
        for (int i = 0; i < READS; i++) {
            sum += view.getFloat(rows[i], columns[i]);
        }
        return sum;
    }

    /** A window's {@code getFloat}. */
    @Benchmark
    public float window() {
        float sum = 0;
        for (int i = 0; i < READS; i++) {
            sum += row.getFloat((int) columns[i] * Float.BYTES, ByteOrder.LITTLE_ENDIAN);
        }
        return sum;
    }

    /** The baseline: Agrona's own checked read at an index computed by hand. */
    @Benchmark
    public float unsafeBuffer() {
        float sum = 0;
        for (int i = 0; i < READS; i++) {
            sum += plain.getFloat((int) (rows[i] * width + columns[i]) * Float.BYTES);
        }
        return sum;
    }
}
