package dev.larder.loader.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.fanout.BatchPublisher.SlowConsumer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("races")
class FanOutTest {
    private static final Duration SOON = Duration.ofMillis(300);

    private final Gallery gallery = new Gallery(100, 50, 16); // 7 batches, the last of 4 samples

    @AfterEach
    void closeGallery() {
        gallery.close();
    }

    @Test
    void everyConsumerSeesEveryBatchOnce() {
        long expected = gallery.checksum(3);
        List<CompletableFuture<Long>> consumers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            consumers.add(CompletableFuture.supplyAsync(this::checksum, task -> new Thread(task).start()));
        }
        try (BatchPublisher publisher =
                gallery.publisher().slots(4).consumers(3).open()) {
            for (long e = 0; e < 3; e++) {
                publisher.publish(gallery.loader.epoch(e));
            }
            assertThat(publisher.published()).isEqualTo(21);
        }

        assertThat(consumers).allSatisfy(sum -> assertThat(sum.join()).isEqualTo(expected));
        assertThat(gallery.ring()).doesNotExist();
    }

    private long checksum() {
        CRC32C sum = new CRC32C();
        try (SharedBatches batches = gallery.consumer().attach()) {
            batches.forEach(batch -> Gallery.add(batch, sum));
        }
        return sum.getValue();
    }

    @Test
    void aBatchTellsWhatItIs() {
        try (BatchPublisher publisher = gallery.publisher().open()) {
            publisher.publish(gallery.loader.epoch(5));
            try (SharedBatches batches = gallery.consumer().attach()) {
                Iterator<SharedBatch> iterator = batches.iterator();
                iterator.next();
                SharedBatch second = iterator.next();

                assertThat(second.epoch()).isEqualTo(5);
                assertThat(second.number()).isEqualTo(1);
                assertThat(List.of(second.size(), second.validSize())).containsOnly(16);
                assertThat(second.array("images").shape()).containsExactly(16, 50);
                assertThat(second.array("labels").dtype().descr()).isEqualTo("<i4");
                assertThat(second.array("images").byteBuffer().isReadOnly()).isTrue();
                assertThatThrownBy(() -> second.array("depth")).hasMessageContaining("arrays=[images, labels]");
            }
        }
    }

    @Test
    void shapesMayDifferFromBatchToBatch() {
        try (BatchPublisher publisher = gallery.publisher().slots(50).open();
                Loader padded = Loader.over(gallery.dataset)
                        .fields(Field.padded("words"))
                        .batchSize(3)
                        .build()) {
            List<String> shapes = new ArrayList<>();
            for (Batch batch : padded.epoch(0)) {
                publisher.publish(batch);
                shapes.add(Arrays.toString(batch.array("words").shape()));
            }
            try (SharedBatches batches = gallery.consumer().attach()) {
                for (String shape : shapes) {
                    SharedBatch batch = batches.iterator().next();
                    assertThat(Arrays.toString(batch.array("words").shape())).isEqualTo(shape);
                    assertThat(batch.array("words.mask").byteBuffer().get(0)).isEqualTo((byte) 1);
                }
            }
            assertThat(shapes).contains("[3, 3]", "[3, 7]", "[1, 2]");
        }
    }

    @Test
    void aBatchIsClosedWhenTheLoopMovesOn() {
        try (BatchPublisher publisher = gallery.publisher().open()) {
            publisher.publish(gallery.loader.epoch(0));
            SharedBatches batches = gallery.consumer().attach();
            Iterator<SharedBatch> iterator = batches.iterator();
            SharedBatch first = iterator.next();
            SharedBatchArray images = first.array("images");
            SharedBatch second = iterator.next();
            batches.close();

            assertThat(List.of(first.isOpen(), second.isOpen())).containsOnly(false);
            assertThatThrownBy(images::byteBuffer).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(iterator::hasNext).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void whoComesLateBeginsWithTheOldestBatchThatIsThere() {
        try (BatchPublisher publisher = gallery.publisher().slots(4).open()) {
            publisher.publish(gallery.loader.epoch(0));
            try (SharedBatches batches = gallery.consumer().attach()) {
                assertThat(batches.iterator().next().number()).isEqualTo(3); // 3 to 6 of 0 to 6
            }
        }
    }

    @Test
    void whoWishesBeginsWithTheNextEpoch() {
        try (BatchPublisher publisher = gallery.publisher().slots(16).open()) {
            Iterator<Batch> epoch = gallery.loader.epoch(0).iterator();
            publisher.publish(epoch.next());
            try (SharedBatches batches = gallery.consumer().fromNextEpoch().attach()) {
                epoch.forEachRemaining(publisher::publish);
                publisher.publish(gallery.loader.epoch(1));
                SharedBatch first = batches.iterator().next();

                assertThat(List.of(first.epoch(), first.number())).containsExactly(1L, 0L);
            }
        }
    }

    @Test
    void aSecondProducerIsRefusedWhileTheFirstLives() {
        try (BatchPublisher first = gallery.publisher().open()) {
            assertThatThrownBy(() -> gallery.publisher().open())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                    .hasMessageContaining(
                            "producer=pid=" + ProcessHandle.current().pid());
            assertThat(first.published()).isZero();
        }
        gallery.publisher().open().close();
    }

    @Test
    void aBatchThatDoesNotFitIsRefusedWithBothSizes() {
        try (BatchPublisher publisher = gallery.publisher().slotBytes(500).open()) {
            assertThatThrownBy(() -> publish(publisher, new Gallery(100, 5000, 16)))
                    .hasMessageContaining("needed=80384 slotBytes=4096");
        }
    }

    private static void publish(BatchPublisher publisher, Gallery other) {
        try (other) {
            publisher.publish(other.loader.epoch(0));
        }
    }

    @Test
    void aProducerIsBlockedByWhoDoesNotGetOnUntilItsDeadline() {
        BatchPublisher publisher = gallery.publisher().slots(2).timeout(SOON).open();
        try (SharedBatches batches = attachAfterFirstBatch(publisher)) {
            try (publisher) {
                assertThatThrownBy(() -> publisher.publish(gallery.loader.epoch(1)))
                        .hasMessageContaining("consumers are not keeping up")
                        .hasMessageContaining(
                                "consumer-00(pid " + ProcessHandle.current().pid() + ", needs batch 0)");
            }

            assertThat(publisher.published()).isEqualTo(2);
            assertThatThrownBy(() -> batches.forEach(batch -> {}))
                    .hasMessageContaining("the producer failed")
                    .hasMessageContaining("message=consumers are not keeping up");
        }
    }

    @Test
    void aProducerIsBlockedByTheBatchThatAConsumerReads() {
        try (BatchPublisher publisher =
                        gallery.publisher().slots(2).timeout(SOON).open();
                SharedBatches batches = attachAfterFirstBatch(publisher)) {
            Iterator<Batch> more = gallery.loader.epoch(1).iterator();
            Iterator<SharedBatch> read = batches.iterator();
            publisher.publish(more.next());
            read.next();
            SharedBatch second = read.next();
            publisher.publish(more.next());

            assertThatThrownBy(() -> publisher.publish(more.next()))
                    .hasMessageContaining("consumers are not keeping up");

            assertThat(publisher.published()).isEqualTo(3);
            assertThat(gallery.isGenuine(second)).isTrue();
        }
    }

    @Test
    void aDeadConsumerThatIsNotBehindIsNoneThatGetsOn() throws IOException {
        try (BatchPublisher publisher =
                        gallery.publisher().slots(2).timeout(SOON).open();
                SharedBatches slow = attachAfterFirstBatch(publisher)) {
            writePageOfTheDead(1, 100);

            assertThatThrownBy(() -> publisher.publish(gallery.loader.epoch(1)))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE))
                    .hasMessageContaining("consumers=consumer-00(pid");
            assertThat(publisher.consumers()).isEqualTo(1);
            assertThat(gallery.isGenuine(slow.iterator().next())).isTrue();
        }
    }

    /** Writes what a consumer leaves that was killed: its page, without the lock. */
    private void writePageOfTheDead(int seat, long finished) throws IOException {
        ByteBuffer page = ByteBuffer.allocate(RingDescriptor.SEAT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        page.putLong(RingDescriptor.SEAT_TICKET_OFFSET, 7);
        page.putLong(RingDescriptor.SEAT_FINISHED_OFFSET, finished);
        page.putLong(RingDescriptor.SEAT_CHECK_OFFSET, ~finished);
        Path file = gallery.ring().resolve(RingDescriptor.seatFile(seat));
        Files.write(file, page.array(), StandardOpenOption.WRITE);
    }

    @Test
    void aRingThatGoesWhileItsSeatsAreTakenIsNotFull() throws Exception {
        BatchPublisher publisher = gallery.publisher().seats(1).open();
        try (publisher;
                SharedBatches only = attachAfterFirstBatch(publisher)) {
            CompletableFuture<SharedBatches> attached = new CompletableFuture<>();
            Thread attaching = new Thread(() -> {
                try {
                    attached.complete(
                            gallery.consumer().timeout(Duration.ofSeconds(2)).attach());
                } catch (LarderException e) {
                    attached.completeExceptionally(e);
                }
            });
            attaching.start();
            await().until(() -> attaching.getState() == Thread.State.TIMED_WAITING);
            publisher.close();

            assertThatThrownBy(attached::join).hasMessageContaining("no such ring");
            attaching.join();
            assertThat(only.iterator().hasNext()).isTrue();
        }
    }

    private SharedBatches attachAfterFirstBatch(BatchPublisher publisher) {
        publisher.publish(gallery.loader.epoch(0).iterator().next());
        return gallery.consumer().attach();
    }

    @Test
    void aSlowConsumerIsDroppedAndToldSo() {
        try (BatchPublisher publisher = gallery.publisher()
                        .slots(2)
                        .onSlowConsumer(SlowConsumer.DROP)
                        .patience(SOON)
                        .open();
                SharedBatches slow = attachAfterFirstBatch(publisher)) {
            SharedBatch read = slow.iterator().next();
            publisher.publish(gallery.loader.epoch(1));

            assertThat(read.isIntact()).isFalse();
            assertThatThrownBy(read::close)
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                    .hasMessageContaining("dropped this consumer as too slow: ring=run1 batch=0 published=8");
            assertThatThrownBy(() -> slow.iterator().hasNext()).hasMessageContaining("dropped");
        }
    }

    @Test
    void aConsumerThatIsDroppedCanAttachAgain() {
        try (BatchPublisher publisher = gallery.publisher()
                .slots(2)
                .onSlowConsumer(SlowConsumer.DROP)
                .patience(SOON)
                .open()) {
            attachAfterFirstBatch(publisher).close();
            SharedBatches slow = gallery.consumer().attach();
            publisher.publish(gallery.loader.epoch(1));
            slow.close();
            try (SharedBatches again = gallery.consumer().attach()) {
                assertThat(gallery.isGenuine(again.iterator().next())).isTrue();
            }
        }
    }

    @Test
    void anEpochThatFailsIsToldToConsumersAfterWhatWasPublished() {
        BatchPublisher publisher = gallery.publisher().open();
        publisher.publish(gallery.loader.epoch(0));
        var ended = gallery.loader.epoch(1);
        ended.close();
        try (SharedBatches batches = gallery.consumer().attach()) {
            assertThatThrownBy(() -> publisher.publish(ended)).isInstanceOf(IllegalStateException.class);
            publisher.close();
            Iterator<SharedBatch> iterator = batches.iterator();
            for (int i = 0; i < 7; i++) {
                iterator.next();
            }

            assertThatThrownBy(iterator::hasNext).hasMessageContaining("epoch ended early: epoch=1");
        }
    }

    @Test
    void whoWaitsForAFirstBatchThatFailsIsToldWhy() {
        BatchPublisher publisher = gallery.publisher().open();
        CompletableFuture<Long> waiting =
                CompletableFuture.supplyAsync(this::checksum, task -> new Thread(task).start());
        var ended = gallery.loader.epoch(1);
        ended.close();

        assertThatThrownBy(() -> publisher.publish(ended)).isInstanceOf(IllegalStateException.class);
        publisher.close();

        assertThatThrownBy(waiting::join)
                .hasMessageContaining("the producer failed: ring=run1 batch=0 message=epoch ended early: epoch=1");
        assertThat(gallery.ring()).doesNotExist();
    }

    @Test
    void closingEndsAWaitOfAnotherThread() throws Exception {
        try (BatchPublisher publisher = gallery.publisher().open()) {
            SharedBatches batches = attachAfterFirstBatch(publisher);
            Iterator<SharedBatch> iterator = batches.iterator();
            iterator.next();
            CountDownLatch waiting = new CountDownLatch(1);
            CompletableFuture<Boolean> wait = CompletableFuture.supplyAsync(() -> {
                waiting.countDown();
                return iterator.hasNext();
            });
            waiting.await();
            batches.close();

            assertThatThrownBy(wait::join)
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void whatIsNotThereIsWaitedForAndThenNamed() {
        try (BatchPublisher publisher =
                gallery.publisher().seats(1).consumers(1).timeout(SOON).open()) {
            assertThatThrownBy(() -> SharedBatches.of(gallery.larder, "run2")
                            .timeout(SOON)
                            .attach())
                    .hasMessageContaining("no such ring: waited=PT0.3S ring=run2")
                    .hasMessageContaining("there are [run1]");
            assertThatThrownBy(() -> gallery.consumer().timeout(SOON).attach())
                    .hasMessageContaining("the producer has not published a first batch");
            assertThatThrownBy(() -> publisher.publish(gallery.loader.epoch(0)))
                    .hasMessageContaining(
                            "consumers did not attach: step=first batch timeout=PT0.3S ring=run1 wanted=1");
            try (SharedBatches only = gallery.consumer().attach()) {
                assertThatThrownBy(() -> gallery.consumer().timeout(SOON).attach())
                        .hasMessageContaining("no seat of the ring is free");
                publisher.publish(gallery.loader.epoch(0).iterator().next());
                assertThat(only.iterator().next().number()).isZero();
            }
        }
    }

    @Test
    void closingABlockedProducerEndsItsWait() {
        BatchPublisher publisher = gallery.publisher().slots(2).open();
        try (SharedBatches batches = attachAfterFirstBatch(publisher)) {
            CompletableFuture<Void> blocked =
                    CompletableFuture.runAsync(() -> publisher.publish(gallery.loader.epoch(1)));
            await().until(() -> Files.exists(gallery.ring().resolve("ring"))
                    && batches.iterator().hasNext());
            publisher.close();

            assertThatThrownBy(blocked::join).hasRootCauseInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void whoAbortsABlockedProducerIsTheCauseThatConsumersSeeAfterWhatWasPublished() {
        BatchPublisher publisher = gallery.publisher().slots(2).open();
        try (SharedBatches batches = attachAfterFirstBatch(publisher)) {
            CompletableFuture<Void> blocked =
                    CompletableFuture.runAsync(() -> publisher.publish(gallery.loader.epoch(1)));
            await().until(() -> published() == 2);
            publisher.abort(Failure.of(ErrorCode.INTERRUPTED, "enough of it").exception());
            publisher.close();

            assertThatThrownBy(blocked::join).hasRootCauseInstanceOf(IllegalStateException.class);
            Iterator<SharedBatch> iterator = batches.iterator();
            assertThat(iterator.next().epoch()).isZero();
            assertThat(iterator.next().epoch()).isEqualTo(1);
            assertThatThrownBy(iterator::hasNext)
                    .hasMessageContaining("the producer failed: ring=run1 batch=2 message=enough of it");
            assertThat(gallery.ring()).doesNotExist();
        }
    }

    private long published() throws IOException {
        try (FileChannel ring = FileChannel.open(gallery.ring().resolve(RingDescriptor.RING))) {
            ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            ring.read(word, RingDescriptor.PUBLISHED_OFFSET);
            return word.getLong(0);
        }
    }

    @Test
    void aConsumerThatHasJustTakenItsSeatMissesNoBatch() {
        BatchPublisher publisher =
                gallery.publisher().slots(3).consumers(1).timeout(SOON).open();
        try (publisher;
                Seat seat = Objects.requireNonNull(Seat.tryTake(Posix.system(), gallery.ring()))) {
            seat.sit(0); // and is held up before it looks where to begin

            assertThatThrownBy(() -> publisher.publish(gallery.loader.epoch(0)))
                    .hasMessageContaining("consumers are not keeping up");

            try (RingReader ring = Objects.requireNonNull(RingReader.tryOpen(Posix.system(), gallery.ring()))) {
                assertThat(ring.publishedAcquire()).isEqualTo(3);
                assertThat(ring.oldestAcquire()).isZero();
            }
        }
    }

    @Test
    void aConsumerThatAttachesDuringTheWaitAndReadsSavesTheFeedFromASlowOne() {
        BatchPublisher publisher = gallery.publisher().slots(4).timeout(SOON).open();
        try (publisher;
                SharedBatches slow = attachAfterFirstBatch(publisher)) {
            Iterator<Batch> batches = gallery.loader.epoch(1).iterator();
            publish(publisher, batches, 3); // now the ring is full
            try (SharedBatches newcomer = gallery.consumer().attach()) {
                for (int i = 0; i < 4; i++) {
                    newcomer.iterator().next().close();
                }
                publish(publisher, batches, 4);
                publisher.close();

                assertThat(gallery.readGenuine(newcomer)).isEqualTo(4);
                assertThatThrownBy(() -> slow.iterator().hasNext()).hasMessageContaining("dropped");
            }
        }
    }

    private static void publish(BatchPublisher publisher, Iterator<Batch> batches, int count) {
        for (int i = 0; i < count; i++) {
            publisher.publish(batches.next());
        }
    }

    @Test
    void waitingForASeatMapsNothing() throws Exception {
        try (BatchPublisher publisher = gallery.publisher().seats(1).open();
                SharedBatches only = attachAfterFirstBatch(publisher)) {
            long before = addressSpaceKb();

            assertThatThrownBy(() -> gallery.consumer().timeout(SOON).attach())
                    .hasMessageContaining("no seat of the ring is free");

            assertThat(addressSpaceKb() - before).isLessThan(1 << 20); // a ring takes 16 GiB of addresses
            assertThat(only.iterator().next().number()).isZero();
        }
    }

    private static long addressSpaceKb() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmSize:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }
}
