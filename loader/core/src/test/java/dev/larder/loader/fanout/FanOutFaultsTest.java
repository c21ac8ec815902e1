package dev.larder.loader.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.fanout.BatchPublisher.SlowConsumer;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.testing.Footprint;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Tag("races")
class FanOutFaultsTest {
    private static final Logger LOG = LoggerFactory.getLogger(FanOutFaultsTest.class);
    private static final int SEATS = 4;
    private static final int ATTACHED = 2000;

    private final Gallery gallery = new Gallery(100, 50, 4); // 25 batches

    @AfterEach
    void closeGallery() {
        gallery.close();
    }

    @Test
    void nonsenseInThePagesOfOthersHarmsNobodyWhoKeepsToTheRules() throws Exception {
        long seed = System.nanoTime();
        LOG.info("seed {}", seed);
        BatchPublisher publisher = gallery.publisher()
                .slots(3)
                .seats(SEATS)
                .consumers(1)
                .onSlowConsumer(SlowConsumer.DROP)
                .patience(Duration.ofMillis(200))
                .open();
        CompletableFuture<Long> reader = CompletableFuture.supplyAsync(this::readAll, task -> new Thread(task).start());
        try (publisher) {
            publisher.publish(gallery.loader.epoch(0)); // the reader has the first seat by now
            for (int round = 0; round < 20; round++) {
                scribble(new Random(seed + round));
                publisher.publish(gallery.loader.epoch(round));
            }
        }
        assertThat(reader.join()).isEqualTo(21 * 25);
    }

    private long readAll() {
        try (SharedBatches batches = gallery.consumer().attach()) {
            return gallery.readGenuine(batches);
        }
    }

    /** Writes noise of any length into the pages of all seats but the first, or cuts them off. */
    private void scribble(Random random) throws IOException {
        for (int seat = 1; seat < SEATS; seat++) {
            Path page = gallery.ring().resolve(RingDescriptor.seatFile(seat));
            byte[] noise = new byte[random.nextInt(RingDescriptor.SEAT_LENGTH + 1)];
            random.nextBytes(noise);
            try (RandomAccessFile file = new RandomAccessFile(page.toFile(), "rw")) {
                file.setLength(random.nextInt(4) == 0 ? noise.length : RingDescriptor.PAGE_LENGTH);
                file.write(noise);
            }
        }
    }

    @Test
    void aRingThatIsNoneIsRefused() throws IOException {
        try (BatchPublisher publisher = gallery.publisher().slotBytes(4096).open()) {
            publisher.publish(gallery.loader.epoch(0).iterator().next());
            Path ring = gallery.ring().resolve(RingDescriptor.RING);
            byte[] sound = Files.readAllBytes(ring);
            long seed = System.nanoTime();
            LOG.info("seed {}", seed);
            Random random = new Random(seed);
            Files.delete(ring); // else the producer's own would change
            for (int round = 0; round < 300; round++) {
                byte[] damaged = sound.clone();
                for (int i = 0; i <= random.nextInt(3); i++) {
                    damaged[random.nextInt(64) + (random.nextBoolean() ? 0 : RingDescriptor.TABLE_OFFSET)] =
                            (byte) random.nextInt();
                }
                Files.write(ring, damaged);
                requireSoundOrRefused();
            }
        }
    }

    private void requireSoundOrRefused() {
        try (SharedBatches batches =
                gallery.consumer().timeout(Duration.ofMillis(5)).attach()) {
            SharedBatch batch = batches.iterator().next();
            batch.arrays()
                    .forEach(array -> assertThat(array.byteBuffer().capacity()).isEqualTo(array.byteSize()));
        } catch (LarderException e) {
            assertThat(e.code()).isIn(ErrorCode.CHECKSUM, ErrorCode.DEADLINE, ErrorCode.REFUSED);
        }
    }

    @Test
    void aBatchThatIsWrittenInPartIsNotPublished() {
        int room = RingDescriptor.PAGE_LENGTH;
        try (Gallery large = new Gallery(4, room, 4)) {
            Batch batch = large.loader.epoch(0).iterator().next();
            RingGeometry geometry = new RingGeometry(RingWriter.arraysOf(batch), 2, 1, room);
            StoreLayout store = new StoreLayout(large.larder.store());
            try (RingFolder folder = RingFolder.claim(Posix.system(), store, "part", 1);
                    MappedMemory memory = folder.makeRing(geometry, room)) {
                RingWriter writer = new RingWriter(memory, geometry, room, folder::reserveMore);

                assertThatThrownBy(() -> writer.write(batch)).isInstanceOf(IndexOutOfBoundsException.class);

                assertThat(memory.buffer(0, room).getLong(RingDescriptor.PUBLISHED_OFFSET))
                        .isZero();
                assertThat(writer.slot(0).getLong(RingDescriptor.SLOT_SEQUENCE_OFFSET))
                        .isEqualTo(RingDescriptor.writing(0));
            }
        }
    }

    @Test
    void aFullFileSystemIsAClearErrorAndNothingStays() throws IOException {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=200k")) {
            Files.createDirectory(tiny.folder().resolve("data"));
            try (Larder larder = Larder.connect(tiny.folder());
                    BatchPublisher publisher =
                            BatchPublisher.of(larder, "run1").slotBytes(100_000).open()) {
                assertThatThrownBy(() -> publisher.publish(gallery.loader.epoch(0)))
                        .isInstanceOfSatisfying(
                                LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                        .hasMessageContaining("not enough space for a ring: needed=827392 free=")
                        .hasMessageContaining("choose fewer slots(…)");
            }
            assertThatThrownBy(() -> publishToFull(tiny.folder())).hasMessageContaining("not enough space for a ring");
            try (Stream<Path> left = Files.list(tiny.folder().resolve("rings"))) {
                assertThat(left).isEmpty();
            }
        }
    }

    @Test
    void batchesOfADeviceAreRefused() {
        LoaderBuilder onDevice =
                Loader.over(gallery.dataset).arrays("images").batchSize(4).device(new FakeDevice());
        BatchPublisher publisher = gallery.publisher().open();
        publisher.publish(gallery.loader.epoch(0).iterator().next());
        try (SharedBatches batches = gallery.consumer().attach();
                Loader loader = onDevice.build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThatThrownBy(() -> publisher.publish(batch))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("publish batches of a loader without device(…)");
            publisher.close();
            Iterator<SharedBatch> read = batches.iterator();
            read.next();
            assertThatThrownBy(read::hasNext).hasMessageContaining("without device(…)");
        }
    }

    @Test
    void aBatchThatCannotBeReadIsTheRingsFailureToo() {
        BatchPublisher publisher = gallery.publisher().open();
        Iterator<Batch> epoch = gallery.loader.epoch(0).iterator();
        publisher.publish(epoch.next());
        try (SharedBatches batches = gallery.consumer().attach()) {
            Batch closed = epoch.next();
            closed.close();

            assertThatThrownBy(() -> publisher.publish(closed)).isInstanceOf(IllegalStateException.class);
            publisher.close();
            Iterator<SharedBatch> read = batches.iterator();
            read.next();
            assertThatThrownBy(read::hasNext).hasMessageContaining("batch is closed");
        }
    }

    private static void publishToFull(Path store) {
        try (Larder larder = Larder.connect(store);
                BatchPublisher publisher = BatchPublisher.of(larder, "run1")
                        .seats(RingDescriptor.SEAT_LIMIT)
                        .open()) {
            assertThat(publisher.consumers()).isZero();
        }
    }

    @Test
    void attachingAndLeavingThousandsOfTimesLeavesNothingBehind() throws IOException {
        try (BatchPublisher publisher = gallery.publisher().open()) {
            publisher.publish(gallery.loader.epoch(0));
            attachAndLeave(100);
            Footprint before = Footprint.of(ProcessHandle.current().pid());
            long mappings = mappings();

            attachAndLeave(ATTACHED);

            assertThat(Footprint.of(ProcessHandle.current().pid()).isAtMost(before, 5))
                    .isTrue();
            System.gc();
            await().until(() -> mappings() <= mappings + 50);
            assertThat(publisher.consumers()).isZero();
        }
    }

    private void attachAndLeave(int times) {
        for (int i = 0; i < times; i++) {
            try (SharedBatches batches = gallery.consumer().attach()) {
                assertThat(batches.iterator().next().size()).isEqualTo(4);
            }
        }
    }

    private static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.count();
        }
    }
}
