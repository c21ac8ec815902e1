package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Iterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loaders that are left again and again, or forgotten. Takes too long for the long test "mutation". */
@Timeout(300)
@Tag("races")
class LoaderLeaksTest {
    private final Shelf shelf = Shelf.ofSamples(1000, 300);

    private LoaderBuilder builder() {
        return Loader.over(shelf.dataset).shuffle(1).batchSize(10).threads(2).prefetch(3);
    }

    @AfterEach
    void noThreadIsLeft() {
        shelf.close();

        assertThat(Shelf.gatherThreads()).isZero();
    }

    @Test
    void manyLoadersLeftEarlyLeaveNoThreadBehind() {
        for (int i = 0; i < 300; i++) {
            try (Loader loader = builder().build()) {
                loader.epoch(i).iterator().next();
            }
        }

        assertThat(Shelf.gatherThreads()).isZero();
    }

    @Test
    void tenThousandPartialIterationsLeaveThreadsAndNativeMemoryAsTheyWere() {
        try (Loader loader = builder().build()) {
            loader.epoch(0).forEach(batch -> {});
            long threads = Shelf.gatherThreads();
            long before = directBytes();
            for (int i = 0; i < 10_000; i++) {
                loader.epoch(i % 3).iterator().next();
            }

            assertThat(directBytes()).isLessThanOrEqualTo(before);
            assertThat(Shelf.gatherThreads()).isEqualTo(threads);
        }
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    void loaderThatWasForgottenEndsWhenTheGarbageCollectorFindsIt() {
        builder().build().epoch(0).iterator().next();

        await().until(() -> {
            System.gc();
            return Shelf.gatherThreads() == 0;
        });
    }

    @Test
    void consumerThatKeepsAllBatchesIsNotLeftWaitingForALongTimeout() {
        try (Loader loader = builder().prefetch(1).timeout(Duration.ofDays(1)).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next().keep();

            assertThatThrownBy(batches::next).hasMessageContaining("no slot for the next batch");
        }
    }
}
