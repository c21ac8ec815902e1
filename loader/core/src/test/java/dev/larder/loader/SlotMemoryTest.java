package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.jna.NativeLibrary;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.transform.Transform;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory of slots that is not Java's own: taken when a loader is built, given back when its threads have left. */
@Timeout(300)
@Tag("races")
class SlotMemoryTest {
    private final Books books = new Books();

    /** Hands out plain memory, and holds that it comes back once, the last first. */
    private static final class Books implements HostAllocator {
        private final Deque<HostMemory> out = new ArrayDeque<>();
        private final List<Long> sizes = new ArrayList<>();
        private int allocations;
        private int allowed = Integer.MAX_VALUE;
        private boolean inOrder = true;

        @Override
        public synchronized HostMemory allocate(long byteSize) {
            if (allocations == allowed) {
                throw Failure.of(ErrorCode.NO_SPACE, "no more").exception();
            }
            allocations++;
            sizes.add(byteSize);
            HostMemory plain = HostMemory.allocate(byteSize);
            HostMemory memory = new HostMemory() {
                @Override
                public ByteBuffer bytes() {
                    return plain.bytes();
                }

                @Override
                public void close() {
                    take(this);
                }
            };
            out.push(memory);
            return memory;
        }

        private synchronized void take(HostMemory memory) {
            inOrder &= out.peek() == memory;
            out.remove(memory);
        }
    }

    private LoaderBuilder over(Shelf shelf) {
        return Loader.over(shelf.dataset).shuffle(1).batchSize(10).threads(2).prefetch(3);
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(books.out).isEmpty();
    }

    @Test
    void everySlotTakesMemoryForEachArrayAndGivesItBackTheLastFirst() {
        try (Shelf shelf = Shelf.ofSamples(1000, 300);
                Loader loader = over(shelf).slotMemory(() -> books).build();
                Loader plain = over(shelf).build()) {
            assertThat(books.out).hasSize(6);
            assertThat(Shelf.checksum(loader.epoch(0))).isEqualTo(Shelf.checksum(plain.epoch(0)));
        }
        assertThat(books.inOrder).isTrue();
        assertThat(books.allocations).isEqualTo(6);
    }

    @ParameterizedTest
    @CsvSource({"100, 64", "262144, 64", "1048576, 16", "20000000, 1"})
    void aSlotForBatchesOfUnknownSizeBeginsWithRoomForSomeSamples(int rowBytes, int samples) {
        try (Shelf shelf = Shelf.of(Shelf.arrays("images", Shelf.noise(1, rowBytes)));
                Loader loader = Loader.over(shelf.dataset)
                        .arrays("images")
                        .batches(BatchSampler.of(Sampler.sequential(), 1, false))
                        .threads(0)
                        .prefetch(1)
                        .slotMemory(() -> books)
                        .build()) {
            assertThat(loader.epoch(0).batches()).isEqualTo(1);
            assertThat(books.sizes).containsExactly((long) samples * rowBytes);
        }
    }

    @Test
    void aBufferOfAClosedLoaderCanStillBeRead() {
        DirectBuffer kept;
        byte[] expected = new byte[300];
        try (Shelf shelf = Shelf.ofSamples(1000, 300);
                Loader loader = over(shelf).slotMemory(() -> books).build()) {
            kept = loader.epoch(0).iterator().next().keep().array("images").buffer();
            kept.getBytes(0, expected);
        }
        byte[] read = new byte[300];
        kept.getBytes(0, read);
        assertThat(read).isEqualTo(expected);
    }

    @Test
    void aSlotThatGrowsGivesItsShorterMemoryBack() {
        try (Scenes scenes = Scenes.open();
                Loader loader = Loader.over(scenes.dataset)
                        .fields(Field.texts("question"))
                        .batchSize(60)
                        .prefetch(1)
                        .slotMemory(() -> books)
                        .build()) {
            int atFirst = books.out.size();
            loader.epoch(0).forEach(batch -> assertThat(batch.size()).isPositive());

            assertThat(books.allocations).isGreaterThan(atFirst);
            assertThat(books.out).hasSize(atFirst);
        }
    }

    @Test
    void whereMemoryRunsOutHalfWayAllIsGivenBack() {
        books.allowed = 5;
        try (Shelf shelf = Shelf.ofSamples(1000, 300)) {
            assertThatThrownBy(() -> over(shelf).slotMemory(() -> books).build())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
        }
        assertThat(books.inOrder).isTrue();
    }

    @Test
    void memoryThatAThreadMayStillWriteToIsKeptUntilItHasLeft() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        try (Shelf shelf = Shelf.of(Shelf.arrays("images", Shelf.noise(100, 4)))) {
            Loader loader = over(shelf)
                    .arrays("images")
                    .transform(
                            "images", new Transform().toFloat().map((values, shape, random) -> hold(entered, released)))
                    .slotMemory(() -> books)
                    .build();
            loader.epoch(0);
            entered.await();

            assertThatThrownBy(loader::close).hasMessageContaining("loader did not stop in time");
            assertThat(books.out).hasSize(3);

            released.countDown();
            loader.close();
        }
    }

    private static void hold(CountDownLatch entered, CountDownLatch released) {
        entered.countDown();
        boolean interrupted = false;
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean hasCudaDriver() {
        try (NativeLibrary found = NativeLibrary.getInstance("libcuda.so.1")) {
            return found != null;
        } catch (UnsatisfiedLinkError absent) {
            return false;
        }
    }

    @Test
    void withoutACudaDriverPinnedMemoryIsRefusedWithTheRemedy() {
        assumeThat(hasCudaDriver()).as("a CUDA driver is installed").isFalse();
        try (Shelf shelf = Shelf.ofSamples(10, 4)) {
            assertThatThrownBy(() -> over(shelf).pinMemory().build())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                    .hasMessageContaining("library=libcuda.so.1")
                    .hasMessageContaining("remove pinMemory()");
        }
    }
}
