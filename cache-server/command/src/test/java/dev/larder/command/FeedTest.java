package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.transform.Transform;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Feeds trainers, each in a process of its own, from a dataset of 5000 bytes 0, 1, 2, …. */
class FeedTest {
    @TempDir
    Path folder;

    @TempDir
    static Path source;

    private static CommandProcess daemon;

    private final List<AutoCloseable> started = new ArrayList<>();

    @BeforeAll
    static void serve() {
        daemon = CommandProcess.serve("--load", "v=" + Samples.vector(source, "v", 5000));
    }

    @AfterAll
    static void stop() {
        daemon.close();
    }

    @AfterEach
    void stopWhatWasStarted() throws Exception {
        for (AutoCloseable each : started) {
            each.close();
        }
    }

    private CommandProcess feed(String... options) {
        List<String> words = new ArrayList<>(List.of("feed", "run1", "v", "--arrays", "v", "--batch-size", "100"));
        words.addAll(List.of(options));
        CommandProcess feed = CommandProcess.onStore(daemon.store(), words.toArray(String[]::new));
        started.add(feed);
        return feed;
    }

    private ChildJvm trainer(int pauseMs) {
        ChildJvm trainer =
                ChildJvm.start(FeedTrainer.class, daemon.store().toString(), "run1", Integer.toString(pauseMs));
        started.add(trainer);
        return trainer;
    }

    private Path ring() {
        return daemon.store().resolve("rings/run1");
    }

    private JsonObject json(String... words) {
        return JsonParser.parseString(daemon.ask(words).out()).getAsJsonObject();
    }

    private JsonObject shownFeed() {
        JsonArray feeds = json("status", "--json").getAsJsonArray("feeds");
        return feeds.isEmpty() ? new JsonObject() : feeds.get(0).getAsJsonObject();
    }

    private List<String> states() {
        List<String> states = new ArrayList<>();
        JsonElement consumers = shownFeed().get("consumers");
        if (consumers != null) {
            consumers
                    .getAsJsonArray()
                    .forEach(consumer ->
                            states.add(consumer.getAsJsonObject().get("state").getAsString()));
        }
        return states;
    }

    @Test
    void trainersSeeWhatALoaderWouldGiveThem() {
        CommandProcess feed = feed(
                "--consumers", "2", "--epochs", "3..4", "--shuffle", "7", "--shard", "1/2", "--transform", "v=toFloat");
        ChildJvm first = trainer(0);
        ChildJvm second = trainer(0);

        String expected = "saw 50 " + checksum();
        assertThat(first.awaitLine("saw")).isEqualTo(expected);
        assertThat(second.awaitLine("saw")).isEqualTo(expected);
        assertThat(feed.exitCode()).as(feed.err()).isZero();
        assertThat(feed.out()).contains("\nrun1: epochs=2 batches=50 rows=5000 (");
        assertThat(feed.out()).startsWith("run1: Loader{v version 1 [v]}, waits for consumers: 2\n");
        assertThat(ring()).doesNotExist();
    }

    @Test
    void imagesOfAColumnOfFilesAreDecoded() throws IOException {
        Path photos = Files.createDirectory(folder.resolve("photos"));
        for (int i = 0; i < 5; i++) {
            BufferedImage photo = new BufferedImage(8 + i, 9, BufferedImage.TYPE_3BYTE_BGR);
            ImageIO.write(photo, "png", photos.resolve(i + ".png").toFile());
        }
        daemon.ask("load", "photos=" + photos, "--as", "bytes");
        List<String> words =
                new ArrayList<>(List.of("feed", "run2", "photos", "--arrays", "files", "--batch-size", "2"));
        words.addAll(List.of("--consumers", "0", "--epochs", "0..0"));
        words.addAll(List.of("--transform", "files=decode(grey),resize(3,4),toFloat"));

        CommandProcess feed = CommandProcess.onStore(daemon.store(), words.toArray(String[]::new));
        started.add(feed);

        assertThat(feed.exitCode()).as(feed.err()).isZero();
        assertThat(feed.out()).contains("\nrun2: epochs=1 batches=3 rows=5 (");
    }

    @Test
    void aBrokenImageIsNamedAndLeftOutIfThatIsAllowed() throws IOException {
        Path photos = Files.createDirectories(folder.resolve("pets/cats"));
        for (int i = 0; i < 3; i++) {
            BufferedImage photo = new BufferedImage(8, 9, BufferedImage.TYPE_3BYTE_BGR);
            ImageIO.write(photo, "jpg", photos.resolve(i + ".jpg").toFile());
        }
        Path broken = photos.resolve("1.jpg");
        Files.write(broken, Arrays.copyOf(Files.readAllBytes(broken), 300));
        daemon.ask("load", "pets=" + photos.getParent(), "--as", "images");

        CommandProcess strict = feedOfImages("run2");
        CommandProcess lenient = feedOfImages("run3", "--max-skipped", "1");

        assertThat(strict.exitCode()).isEqualTo(6);
        assertThat(strict.err()).contains("file=cats/1.jpg source=" + broken + "; check the sample");
        assertThat(lenient.exitCode()).as(lenient.err()).isZero();
        assertThat(lenient.err()).contains("skipped a sample: dataset=pets").contains("source=" + broken);
        assertThat(lenient.out()).contains("\nrun3: epochs=1 batches=2 rows=2 skipped=1 (");
    }

    private CommandProcess feedOfImages(String run, String... options) {
        List<String> words = new ArrayList<>(List.of("feed", run, "pets", "--arrays", "image", "--batch-size", "2"));
        words.addAll(List.of("--consumers", "0", "--transform", "image=decode(rgb,scaled),resize(3,4)"));
        words.addAll(List.of(options));
        CommandProcess feed = CommandProcess.onStore(daemon.store(), words.toArray(String[]::new));
        started.add(feed);
        return feed;
    }

    private long checksum() {
        CRC32C sum = new CRC32C();
        try (Larder larder = Larder.connect(daemon.store());
                Dataset dataset = larder.dataset("v");
                Loader loader = Loader.over(dataset)
                        .arrays("v")
                        .transform("v", new Transform().toFloat())
                        .shuffle(7)
                        .shard(1, 2)
                        .batchSize(100)
                        .build()) {
            for (long epoch = 3; epoch <= 4; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    sum.update(batch.array("v").byteBuffer());
                }
            }
        }
        return sum.getValue();
    }

    @Test
    void forProgramsTheSummaryIsOneObjectAndNothingElseIsSaid() {
        CommandProcess feed = feed("--consumers", "0", "--json", "--epochs", "2");

        assertThat(feed.exitCode()).isZero();
        JsonObject summary = JsonParser.parseString(feed.out()).getAsJsonObject();
        assertThat(summary.keySet())
                .containsExactly(
                        "feed",
                        "dataset",
                        "version",
                        "epochs",
                        "batches",
                        "rows",
                        "skipped",
                        "seconds",
                        "batchesPerSecond",
                        "code",
                        "error");
        assertThat(summary.get("rows").getAsInt()).isEqualTo(5000);
        assertThat(feed.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = "INT")
    void aSignalEndsTheFeedAndEveryTrainerIsToldSo(String signal) {
        requireEndBy(signal);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"TERM", "HUP"})
    void anotherSignalEndsTheFeed(String signal) {
        requireEndBy(signal);
    }

    private void requireEndBy(String signal) {
        CommandProcess feed = feed("--epochs", "0..");
        ChildJvm trainer = trainer(1);
        trainer.awaitLine("reading");

        feed.signal(signal);

        assertThat(feed.exitCode()).isEqualTo(130);
        assertThat(trainer.awaitLine("failed"))
                .contains(
                        "the producer failed: ring=run1",
                        "message=the feed was interrupted: feed=run1 pid=" + feed.pid())
                .contains("by=SIG" + signal);
        assertThat(feed.err()).contains("larder: the feed was interrupted", "start it again with --epochs");
        assertThat(feed.out()).contains("\nrun1: epochs=");
        assertThat(ring()).doesNotExist();
    }

    @Test
    void aFeedWhoseStarterHasGoneEnds() {
        CommandProcess feed = feed("--until-eof", "--consumers", "0", "--epochs", "0..");
        feed.say("nothing").awaitErr(" of 50 batches, consumers: 0");

        feed.hangUp();

        assertThat(feed.exitCode()).isEqualTo(130);
        assertThat(feed.err()).contains("by=the end of standard input");
    }

    @Test
    void aFeedThatIsKilledEndsItsTrainersAndTheDaemonRemovesItsRing() {
        CommandProcess feed = feed("--epochs", "0..");
        ChildJvm trainer = trainer(1);
        trainer.awaitLine("reading");

        feed.kill();

        assertThat(trainer.awaitLine("failed")).contains("the producer died: ring=run1");
        await().until(() -> !Files.exists(ring()));
    }

    @Test
    void aTransformThatFailsIsTheCauseThatTrainersSee() {
        CommandProcess feed = feed("--transform", "v=oneHot(200)");
        ChildJvm trainer = trainer(0);

        assertThat(trainer.awaitLine("failed"))
                .startsWith("failed after 2: the producer failed: ring=run1 batch=2 message=cannot transform a sample")
                .contains("label is outside the classes: label=200 classes=200");
        assertThat(feed.exitCode()).isEqualTo(6);
        assertThat(feed.err()).contains("larder: cannot transform a sample");
        assertThat(feed.out()).contains("\nrun1: epochs=0 batches=2 rows=200 ");
    }

    @Tag("slow")
    @Test
    void trainersThatWaitForAFirstBatchThatFailsAreToldWhy() {
        ChildJvm trainer = trainer(0);
        trainer.awaitLine("waiting");
        CommandProcess feed = feed("--consumers", "0", "--transform", "v=oneHot(9)");

        assertThat(trainer.awaitLine("failed"))
                .startsWith("failed after 0: the producer failed: ring=run1 batch=0 message=cannot transform a sample")
                .contains("label is outside the classes: label=9 classes=9");
        assertThat(feed.exitCode()).isEqualTo(6);
    }

    @Tag("slow")
    @Test
    void aFeedEndsWithItsStore() {
        CommandProcess shared = daemon;
        serve();
        try (CommandProcess own = daemon) {
            CommandProcess feed = feed("--epochs", "0..");
            ChildJvm trainer = trainer(1);
            trainer.awaitLine("reading");

            assertThat(own.signal("INT").exitCode()).isZero();

            assertThat(feed.exitCode()).isEqualTo(3);
            assertThat(trainer.awaitLine("failed")).contains("message=the store of the feed is gone: feed=run1");
        } finally {
            daemon = shared;
        }
    }

    @Tag("slow")
    @Test
    void aNameIsForOneFeedAtATime() {
        CommandProcess feed = feed("--epochs", "0..");
        feed.awaitOut("waits for consumers");

        CommandProcess second = feed("--epochs", "0..");

        assertThat(second.exitCode()).isEqualTo(7);
        assertThat(second.err())
                .contains("a ring of this name has a live producer: ring=run1 producer=pid=" + feed.pid());
        assertThat(shownFeed().get("pid").getAsLong()).isEqualTo(feed.pid());
    }

    @Test
    void aTrainerThatIsKilledHoldsNobodyUp() {
        CommandProcess feed = feed("--consumers", "2", "--epochs", "0..9");
        ChildJvm survivor = trainer(0);
        ChildJvm victim = trainer(1);
        victim.awaitLine("reading");

        Processes.signal("KILL", victim.pid());

        assertThat(survivor.awaitLine("saw")).startsWith("saw 500 ");
        assertThat(feed.exitCode()).isZero();
    }

    @Test
    void aFeedWhoseLastTrainerIsKilledFails() {
        CommandProcess feed = feed("--consumers", "2", "--epochs", "0..");
        ChildJvm first = trainer(1);
        ChildJvm last = trainer(1000);
        last.awaitLine("reading");

        Processes.signal("KILL", first.pid());
        Processes.signal("KILL", last.pid());

        assertThat(feed.exitCode()).isEqualTo(7);
        assertThat(feed.err())
                .contains("larder: the last consumer died before it had all batches: ring=run1 published=")
                .contains("(pid " + last.pid() + ", needs batch 0)", "; find out why its process ended");
        assertThat(feed.out()).contains("\nrun1: epochs=");
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"drop, 1m", "block, 1s"})
    void aTrainerThatIsStoppedIsGivenUpWhenItsTimeIsOverAndSeenToBe(String onSlow, String timeout) {
        CommandProcess feed = feed("--consumers", "2", "--epochs", "0..", "--on-slow", onSlow, "--timeout", timeout);
        ChildJvm other = trainer(1);
        ChildJvm stopped = trainer(1);
        stopped.awaitLine("reading");

        Processes.signal("STOP", stopped.pid());

        await().untilAsserted(() -> assertThat(states()).contains("dropped"));
        assertThat(feed.err())
                .contains("dropped a consumer that is stopped by a signal: ring=run1", "pid " + stopped.pid());
        Processes.signal("CONT", stopped.pid());
        assertThat(stopped.awaitLine("failed")).contains("the producer has dropped this consumer as too slow");
        assertThat(feed.signal("INT").exitCode()).isEqualTo(130);
        assertThat(other.awaitLine("failed")).contains("the feed was interrupted");
    }

    @Tag("slow")
    @Test
    void nobodyWhoGetsOnIsADeadlineAndNoHang() {
        CommandProcess feed = feed("--epochs", "0..", "--timeout", "5s");
        ChildJvm trainer = trainer(1);
        trainer.awaitLine("reading");

        Processes.signal("STOP", trainer.pid());

        await().untilAsserted(() -> assertThat(states()).containsExactly("stopped"));
        assertThat(feed.exitCode()).isEqualTo(9);
        assertThat(feed.err()).contains("consumers are not keeping up", "pid " + trainer.pid());
        Processes.signal("CONT", trainer.pid());
        assertThat(trainer.awaitLine("failed")).contains("consumers are not keeping up");
        assertThat(feed("--timeout", "300ms").exitCode()).isEqualTo(9);
    }

    @Test
    void feedsAndTheirTrainersAreSeenWithoutAskingThem() {
        CommandProcess feed = feed("--epochs", "5..", "--slots", "4");
        ChildJvm slow = trainer(50);
        slow.awaitLine("reading");

        await().untilAsserted(() -> assertThat(states()).containsExactly("slow"));
        JsonObject shown = shownFeed();

        assertThat(shown.keySet())
                .containsExactly("name", "pid", "datasets", "epoch", "batches", "batchesPerSecond", "consumers");
        assertThat(shown.get("datasets").toString()).isEqualTo("[\"v\"]");
        assertThat(shown.get("epoch").getAsLong()).isGreaterThanOrEqualTo(5);
        assertThat(shown.get("batchesPerSecond").getAsDouble()).isBetween(1.0, 60.0);
        // It has caught up for a moment where the producer had to wait for a processor.
        await().untilAsserted(() ->
                assertThat(daemon.ask("status").out()).contains("FEED", "1 (pid " + slow.pid() + " slow)"));
        await().untilAsserted(() ->
                assertThat(daemon.ask("top", "--once").out()).contains("FEED", "run1", "pid " + slow.pid() + " slow"));
        assertThat(json("top", "--once", "--json").getAsJsonArray("feeds")).hasSize(1);
        JsonArray clients =
                JsonParser.parseString(daemon.ask("clients", "--json").out()).getAsJsonArray();
        assertThat(clients).hasSize(2);
        assertThat(clients.toString()).contains("\"pid\":" + slow.pid(), "\"feeds\":[\"run1\"]", "\"feeds\":[]");
        assertThat(daemon.ask("clients").out()).contains("FEEDS", "  run1  ");
        feed.kill();
        assertThat(json("status", "--json").getAsJsonArray("feeds")).isEmpty();
    }

    @Test
    void whatIsWrongIsSaidWithWhatIsRight() {
        for (String row : List.of(
                "--arrays w|4|no such array: dataset=v version=1 array=w",
                "--arrays v --transform w=flip|4|no such array to transform: dataset=v array=w; did you mean v? --arrays names v",
                "--arrays v --transform v=flop|2|no such step: array=v step=flop; did you mean flip?",
                "--arrays v --transform v|2|not a transform: 'v' (a transform is ARRAY=STEP,STEP); see larder feed --help",
                "--arrays v --transform v=flip --transform v=toFloat|2|two transforms of one array: 'v' (join their steps with a comma); see larder feed --help",
                "--arrays v --transform v=channelsFirst|6|transform does not fit the array: step=channelsFirst()",
                "--arrays v --batch-size 0|2|--batch-size must be 1",
                "--arrays v --consumers 65|2|--consumers must be 0 to 64: 65",
                "--arrays v --shard 2/2|2|rank must be 0 to world - 1",
                "--arrays v --shard 2|2|not a shard: '2' (a shard is RANK/WORLD, such as 0/4)",
                "--arrays v --epochs 3..1|2|the last epoch is before the first: '3..1'",
                "--arrays v --epochs x|2|not epochs: 'x' (epochs are 0..9, 3 or 3..)",
                "--arrays v --on-slow wait|2|invalid value for option '--on-slow'",
                "--batch-size 1|2|missing required option: '--arrays=ARRAY'")) {
            String[] parts = row.split("\\|", -1);
            Answer feed = daemon.ask(("feed run1 v " + parts[0]).split(" ", -1));

            assertThat(feed.code()).as(row + feed.err()).isEqualTo(Integer.parseInt(parts[1]));
            assertThat(feed.err()).contains(parts[2]);
            assertThat(ring()).doesNotExist();
        }
    }

    @Test
    void anEpochWithoutBatchesIsRefused() {
        CommandProcess feed = CommandProcess.onStore(
                daemon.store(), "feed", "run1", "v", "--arrays", "v", "--batch-size", "6000", "--drop-last");
        started.add(feed);

        assertThat(feed.exitCode()).isEqualTo(6);
        assertThat(feed.err())
                .contains("an epoch has no batches: rows=5000 batchSize=6000; choose a smaller --batch-size");
    }

    @Test
    void namesThatNobodyKnowsAreRefused() {
        assertThat(daemon.ask("feed", "run1", "w", "--arrays", "v").code()).isEqualTo(4);
        assertThat(daemon.ask("feed", ".run", "v", "--arrays", "v").code()).isEqualTo(6);
    }

    @Tag("slow")
    @Test
    void theBottleneckOfAFeedIsShownAndGoneAfterAKill() {
        CommandProcess feed = feed("--consumers", "1", "--epochs", "0..");
        ChildJvm slow = trainer(20);
        slow.awaitLine("reading");

        await().untilAsserted(() -> {
            Answer doctor = daemon.ask("doctor", "run1");
            assertThat(doctor.code()).isZero();
            assertThat(doctor.out()).contains("run1", "it is the bottleneck itself");
        });
        assertThat(daemon.ask("doctor", Long.toString(slow.pid())).out()).contains("it is the bottleneck itself");
        assertThat(daemon.ask("top", "--once").out()).contains("TRAINER'S TIME", feed.pid() + ": the trainer waits");
        JsonObject loader =
                json("top", "--once", "--json").getAsJsonArray("loaders").get(0).getAsJsonObject();
        assertThat(loader.get("program").getAsString() + loader.get("feed").getAsString())
                .isEqualTo("feedrun1");

        feed.kill();

        await().until(() ->
                json("top", "--once", "--json").getAsJsonArray("loaders").isEmpty());
        assertThat(daemon.ask("doctor", "run1").err()).contains("no live loader of this run: run=run1 loaders=none");
        await().until(() -> daemon.store().resolve("loaders").toFile().list().length == 0);
    }
}
