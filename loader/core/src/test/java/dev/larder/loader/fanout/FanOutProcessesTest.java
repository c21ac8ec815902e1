package dev.larder.loader.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.Loader;
import dev.larder.loader.fanout.BatchPublisher.SlowConsumer;
import dev.larder.loader.fanout.DyingProducer.Step;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("races")
class FanOutProcessesTest {
    private final Gallery gallery = new Gallery(3000, 200, 64); // 47 batches

    @AfterEach
    void closeGallery() {
        gallery.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"copied", "in-place"})
    void twoConsumersInJavaAndTwoInPythonSeeEveryBatchAtPacesOfTheirOwn(String way) throws Exception {
        try (PythonConsumer python = PythonConsumer.start(gallery.path(), false);
                PythonConsumer copying = PythonConsumer.start(gallery.path(), true);
                ChildJvm quick = ChildJvm.start(ConsumingProgram.class, gallery.path(), "0");
                ChildJvm slow = ChildJvm.start(ConsumingProgram.class, gallery.path(), "3000");
                ChildJvm producer = ChildJvm.start(PublishingProgram.class, gallery.path(), "4", "64", "3", "4", way)) {
            String expected = String.format("188 %08x", gallery.checksum(4));

            assertThat(quick.awaitLine("1")).isEqualTo(expected);
            assertThat(slow.awaitLine("1")).isEqualTo(expected);
            assertThat(python.awaitOutput()).isEqualTo(copying.awaitOutput()).isEqualTo(gallery.pythonSum(4));
            assertThat(producer.awaitLine("published")).isEqualTo("published 188");
            assertThat(producer.awaitExit()).isZero();
        }
    }

    @Test
    void aProducerThatIsKilledEndsItsConsumersWhateverItWasDoing() {
        Rounds rounds = Rounds.of("killed producers", 3);
        Random random = rounds.random();
        for (int round = 0; round < rounds.count(); round++) {
            String way = random.nextBoolean() ? "copied" : "in-place";
            try (ChildJvm producer = ChildJvm.start(PublishingProgram.class, gallery.path(), "0", "64", "3", "1", way);
                    SharedBatches batches = gallery.consumer().attach()) {
                int before = random.nextInt(200);
                int pause = random.nextInt(1_000_000);
                Iterator<SharedBatch> iterator = batches.iterator();
                for (int i = 0; i < before; i++) {
                    assertThat(gallery.isGenuine(iterator.next())).isTrue();
                }
                CompletableFuture<Void> kill = killAfter(producer, pause);
                requireDeath(batches);
                kill.join();
            }
            gallery.publisher().open().close(); // takes the name over, and removes what is left
        }
    }

    @Test
    void aProducerThatIsKilledInAnyStepLosesAndTearsNoPublishedBatch() {
        Map<Step, SharedBatches> consumers = new EnumMap<>(Step.class);
        try (ChildJvm producer = ChildJvm.start(DyingProducer.class, gallery.path())) {
            producer.awaitLine("stopped");
            for (Step step : Step.values()) {
                consumers.put(step, SharedBatches.attach(gallery.larder, step.ring()));
            }

            producer.kill();

            consumers.forEach(this::requireLastBatchThenDeath);
        } finally {
            consumers.values().forEach(SharedBatches::close);
        }
    }

    private void requireLastBatchThenDeath(Step step, SharedBatches batches) {
        Iterator<SharedBatch> iterator = batches.iterator();

        SharedBatch last = iterator.next();

        assertThat(last.number()).as(step.name()).isEqualTo(2);
        assertThat(gallery.isGenuine(last)).as(step.name()).isTrue();
        assertThatThrownBy(iterator::hasNext).hasMessageContaining("the producer died: ring=" + step.ring());
    }

    private static CompletableFuture<Void> killAfter(ChildJvm producer, int nanos) {
        return CompletableFuture.runAsync(() -> {
            long start = System.nanoTime();
            while (System.nanoTime() - start < nanos) {
                Thread.onSpinWait();
            }
            producer.kill();
        });
    }

    private void requireDeath(SharedBatches batches) {
        assertThatThrownBy(() -> gallery.readGenuine(batches))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                .hasMessageContaining("the producer died: ring=run1");
    }

    @ParameterizedTest
    @ValueSource(booleans = true)
    void consumersThatAreKilledOrStoppedHoldNobodyUp(boolean inPlace) throws Exception {
        killAndStop(inPlace);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(booleans = false)
    void consumersThatAreKilledOrStoppedHoldNobodyUpWhereBatchesAreCopied(boolean inPlace) throws Exception {
        killAndStop(inPlace);
    }

    private void killAndStop(boolean inPlace) throws Exception {
        Rounds rounds = Rounds.of("killed consumers", 2);
        Random random = rounds.random();
        BatchPublisher publisher = gallery.publisher().slots(3).consumers(1).open();
        Loader loader = inPlace ? gallery.loaderInto(publisher) : gallery.loader;
        try (ChildJvm reader = ChildJvm.start(ConsumingProgram.class, gallery.path(), "0")) {
            try (publisher) {
                publisher.publish(loader.epoch(0));
                for (int round = 0; round < rounds.count(); round++) {
                    publishWhileOneDies(publisher, loader, random);
                }
            }
            assertThat(reader.awaitExit()).isZero();
            assertThat(reader.remainingLines().get(2)).startsWith(publisher.published() + " ");
        } finally {
            loader.close();
        }
    }

    private void publishWhileOneDies(BatchPublisher publisher, Loader loader, Random random) throws Exception {
        try (ChildJvm victim = ChildJvm.start(ConsumingProgram.class, gallery.path(), "50")) {
            victim.awaitLine("attached");
            for (long epoch = 0; publisher.consumers() < 2; epoch++) {
                publisher.publish(loader.epoch(epoch));
            }
            if (random.nextBoolean()) {
                Processes.signal("STOP", victim.pid());
            }
            CompletableFuture<Void> kill = killAfter(victim, random.nextInt(20_000_000));
            publisher.publish(loader.epoch(0));
            kill.join();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConsumerThatIsStoppedIsDroppedAndReadsOnlyWhatIsGenuine(boolean inPlace) throws Exception {
        long expected = gallery.checksum(2);
        BatchPublisher publisher = gallery.publisher()
                .slots(3)
                .consumers(2)
                .onSlowConsumer(SlowConsumer.DROP)
                .open();
        Loader loader = inPlace ? gallery.loaderInto(publisher) : gallery.loader;
        try (loader;
                ChildJvm stopped = ChildJvm.start(ConsumingProgram.class, gallery.path(), "1000");
                ChildJvm reader = ChildJvm.start(ConsumingProgram.class, gallery.path(), "0")) {
            try (publisher) {
                publisher.publish(loader.epoch(0));
                Processes.signal("STOP", stopped.pid());
                publisher.publish(loader.epoch(1));
                Processes.signal("CONT", stopped.pid());
            }

            assertThat(stopped.awaitLine("after")).contains("the producer has dropped this consumer as too slow");
            assertThat(reader.awaitLine("9")).isEqualTo(String.format("94 %08x", expected));
        }
    }

    @Test
    void theLastConsumerThatIsKilledEndsThePublisherEvenIfItsRingHasRoom() {
        try (BatchPublisher publisher =
                        gallery.publisher().slots(64).consumers(1).open();
                ChildJvm last = ChildJvm.start(ConsumingProgram.class, gallery.path(), "60000000")) {
            awaitConsumers(publisher, 1);

            last.kill();

            assertThatThrownBy(() -> publisher.publish(gallery.loader.epoch(0)))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                    .hasMessageContaining("the last consumer died before it had all batches: ring=run1 published=48")
                    .hasMessageContaining("(pid " + last.pid() + ", needs batch 0)");
        }
    }

    @Test
    void theLastConsumerThatClosesEndsNothing() {
        try (BatchPublisher publisher =
                gallery.publisher().slots(2).consumers(1).open()) {
            CompletableFuture<Void> reader = CompletableFuture.runAsync(() -> {
                try (SharedBatches batches = gallery.consumer().attach()) {
                    batches.iterator().next();
                }
            });

            publisher.publish(gallery.loader.epoch(0));

            reader.join();
            assertThat(publisher.published()).isEqualTo(47);
        }
    }

    @Test
    void aConsumerThatIsStoppedNeverEndsTheOthersThatAProducerWaitsFor() throws Exception {
        BatchPublisher publisher = gallery.publisher()
                .slots(3)
                .consumers(3)
                .timeout(Duration.ofSeconds(2))
                .open();
        try (ChildJvm stopped = ChildJvm.start(ConsumingProgram.class, gallery.path(), "0");
                ChildJvm reader = ChildJvm.start(ConsumingProgram.class, gallery.path(), "0");
                ChildJvm slower = ChildJvm.start(ConsumingProgram.class, gallery.path(), "2000")) {
            try (publisher) {
                awaitConsumers(publisher, 3);
                publisher.publish(gallery.loader.epoch(0));
                Processes.signal("STOP", stopped.pid());
                publisher.publish(gallery.loader.epoch(1));
                Processes.signal("CONT", stopped.pid());
            }
            String expected = String.format("95 %08x", checksumWithFirst());

            assertThat(reader.awaitLine("9")).isEqualTo(expected);
            assertThat(slower.awaitLine("9")).isEqualTo(expected);
            assertThat(stopped.awaitLine("after")).contains("the producer has dropped this consumer as too slow");
        }
    }

    private long checksumWithFirst() {
        CRC32C sum = new CRC32C();
        gallery.loader.epoch(9).iterator().next().arrays().forEach(array -> sum.update(array.byteBuffer()));
        for (long e = 0; e < 2; e++) {
            gallery.loader.epoch(e).forEach(batch -> batch.arrays().forEach(array -> sum.update(array.byteBuffer())));
        }
        return sum.getValue();
    }

    /** The first batch makes the ring, for which consumers wait; a JVM may take longer to start than the producer waits. */
    private void awaitConsumers(BatchPublisher publisher, int count) {
        await().until(() -> {
            try {
                publisher.publish(gallery.loader.epoch(9).iterator().next());
                return true;
            } catch (LarderException e) {
                assertThat(e).hasMessageContaining("wanted=" + count);
                return false;
            }
        });
    }

    @Test
    void pythonIsToldOfAProducerThatDied() throws Exception {
        try (PythonConsumer python = PythonConsumer.start(gallery.path(), false);
                ChildJvm producer =
                        ChildJvm.start(PublishingProgram.class, gallery.path(), "0", "64", "3", "1", "in-place")) {
            producer.awaitLine("open");
            try (SharedBatches batches = gallery.consumer().attach()) {
                batches.iterator().next();
            }
            producer.kill();

            assertThat(python.awaitOutput()).startsWith("after").contains("the producer died: ring=run1");
        }
    }
}
