package dev.larder.bench;

import dev.larder.client.ArrayView;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.sample.SampleOrder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;

/** The store and data that {@code ops/bench} prepared. */
public final class BenchStore {
    public static final String DATASET = "bench";
    public static final int BATCH = 256;
    public static final long SEED = 42;

    private static final String STORE_PROPERTY = "larder.bench.store";

    private BenchStore() {}

    /** Returns the store's folder from the system property. */
    public static Path path() {
        String store = System.getProperty(STORE_PROPERTY);
        if (store == null) {
            throw new IllegalStateException("no store is named: property=" + STORE_PROPERTY + "; run ops/bench");
        }
        return Path.of(store);
    }

    /** Cuts an order into batches; the last one may be shorter. */
    public static long[][] cut(SampleOrder order) {
        long[][] batches = new long[(int) ((order.length() + BATCH - 1) / BATCH)][];
        for (int batch = 0; batch < batches.length; batch++) {
            long first = (long) batch * BATCH;
            long[] rows = new long[(int) Math.min(BATCH, order.length() - first)];
            Arrays.setAll(rows, i -> order.row(first + i));
            batches[batch] = rows;
        }
        return batches;
    }

    /** Reads all of an array, so that its pages are mapped. */
    public static void touch(ArrayView view) {
        CRC32C crc = new CRC32C();
        crc.update(view.byteBuffer(0, view.rows()));
        if ((int) crc.getValue() != view.crc32c()) {
            throw new IllegalStateException("bytes are not what was loaded: array=" + view.name());
        }
    }

    /** Allocates and touches a buffer. */
    public static UnsafeBuffer buffer(int bytes) {
        UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(bytes));
        buffer.setMemory(0, bytes, (byte) 1);
        return buffer;
    }

    /** Sets how many threads a loader has; {@code default} leaves it as it is. */
    public static LoaderBuilder threads(LoaderBuilder builder, String threads) {
        return threads.equals("default") ? builder : builder.threads(Integer.parseInt(threads));
    }
}
