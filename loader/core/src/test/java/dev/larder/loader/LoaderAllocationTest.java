package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Iterator;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoaderAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM_UP = 2000;
    private static final int MEASURED = 5000;

    private long sum;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void noBatchAllocatesAnything(int threads) {
        try (Shelf shelf = Shelf.ofSamples(8 * (WARM_UP + MEASURED), 784);
                Loader loader = Loader.over(shelf.dataset)
                        .shuffle(1)
                        .batchSize(8)
                        .threads(threads)
                        .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            long[] ids = idsOfConsumerAndGatherThreads();
            read(batches, WARM_UP);

            long before = allocated(ids);
            read(batches, MEASURED - 10);
            long after = allocated(ids);

            assertThat(ids).hasSize(1 + threads);
            assertThat(after - before).isLessThan(MEASURED); // not a byte per batch; measuring costs a little itself
            assertThat(sum).isNotZero();
        }
    }

    private void read(Iterator<Batch> batches, int count) {
        for (int i = 0; i < count; i++) {
            Batch batch = batches.next();
            sum += batch.array("images").buffer().getByte(5)
                    + batch.array(1).buffer().getByte(0)
                    + batch.row(3);
        }
    }

    private static long[] idsOfConsumerAndGatherThreads() {
        LongStream gatherers = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("larder-gather-"))
                .mapToLong(Thread::getId);
        return LongStream.concat(LongStream.of(Thread.currentThread().getId()), gatherers)
                .toArray();
    }

    private static long allocated(long[] ids) {
        long bytes = 0;
        for (long id : ids) {
            bytes += THREADS.getThreadAllocatedBytes(id);
        }
        return bytes;
    }
}
