package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.Dtype;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks a real daemon for everything that the commands offer. */
class RequestsTest {
    @TempDir
    Path folder;

    private static CommandProcess daemon;

    @BeforeAll
    static void serve() {
        daemon = CommandProcess.serve();
    }

    @AfterEach
    void forgetAll() {
        daemon.forgetAll();
        assertThat(daemon.err()).isEmpty();
    }

    @AfterAll
    static void stop() {
        daemon.signal("TERM").exitCode();
        String err = daemon.err();
        daemon.close();
        assertThat(daemon.store()).doesNotExist();
        assertThat(err).isEmpty();
    }

    private JsonObject object(String... arguments) {
        return JsonParser.parseString(daemon.ask(arguments).out()).getAsJsonObject();
    }

    private long version(String dataset) {
        return object("info", dataset, "--json").get("version").getAsLong();
    }

    @Test
    void whatNumpyWroteIsReadBackByNumpyByteForByte() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Samples.numpy(source, """
                rng = np.random.default_rng(1)
                for t in '?', 'i1', '<u2', '>i4', '<i8', '<f2', '>f4', '<f8', '<c16', 'S5', '<U3', '<M8[ns]':
                    a = np.frombuffer(rng.bytes(60 * np.dtype(t).itemsize), t).reshape(3, 4, 5)
                    np.save('a' + np.dtype(t).str[1:].replace('[', '').replace(']', ''), a if t != 'S5' else np.asfortranarray(a))
                np.save('s', np.zeros(7, [('x', '<f4'), ('y', '>i2', (2, 3)), ('z', [('w', 'S4')])]))
                """);

        assertThat(daemon.ask("load", "d=" + source).code()).isZero();

        StringBuilder compare = new StringBuilder();
        JsonArray rows =
                JsonParser.parseString(daemon.ask("ls", "--json").out()).getAsJsonArray();
        assertThat(rows).hasSize(13);
        for (JsonElement row : rows) {
            String name = row.getAsJsonObject().get("name").getAsString().substring(2);
            String path = daemon.ask("path", "d/" + name).out().strip();
            compare.append("a, b = np.load('%s.npy'), np.load('%s', mmap_mode='r')%n".formatted(name, path))
                    .append("assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes('A') == b.tobytes('A')\n")
                    .append("assert a.flags.fnc == b.flags.fnc and b.offset == 4096 + 192, '%s'%n".formatted(name));
        }
        assertThat(Samples.numpy(source, compare + "print('same')")).isEqualTo("same");
    }

    @Test
    void infoDescribesAnArrayAsOneObjectAndADatasetOfSeveralAsAList() {
        Samples.vector(folder, "a", 10);
        Samples.vector(folder, "b", 20);
        Path single = Samples.vector(folder, "single", 30);
        daemon.ask("load", "both=" + folder, "one=" + single);

        JsonObject array = object("info", "both/b", "--json");

        assertThat(array.get("shape").getAsJsonArray().get(0).getAsLong()).isEqualTo(20);
        assertThat(array.get("dtype").getAsString()).isEqualTo("|u1");
        assertThat(array.get("crc32c").getAsString()).matches("[0-9a-f]{8}");
        assertThat(object("info", "one", "--json").get("name").getAsString()).isEqualTo("one/single");
        assertThat(JsonParser.parseString(daemon.ask("info", "both", "--json").out())
                        .getAsJsonArray())
                .hasSize(3);
        assertThat(daemon.ask("info", "both/a").lines()).contains("name     both/a", "shape    (10,)");
    }

    @Test
    void pathStandsForTheOnlyArrayOfADatasetAndNeverLeadsThroughALink() throws Exception {
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 10));

        Path path = Path.of(daemon.ask("path", "v").out().strip());

        assertThat(path).isEqualTo(daemon.store().resolve("data/v/" + version("v") + "/v.npy"));
        assertThat(path.toRealPath()).isEqualTo(path);
    }

    @Test
    void pathOfADatasetOfSeveralAsksForOne() {
        Samples.vector(folder, "a", 10);
        Samples.vector(folder, "b", 10);
        daemon.ask("load", "d=" + folder);

        Answer answer = daemon.ask("path", "d");

        assertThat(answer.code()).isEqualTo(4);
        assertThat(answer.err()).contains("d/a");
    }

    @Test
    void anUnknownNameEndsWith4AndNearNames() {
        daemon.ask("load", "mnist=" + Samples.vector(folder, "v", 10));

        for (String command : new String[] {"info", "path", "evict", "verify"}) {
            Answer answer = daemon.ask(command, "mnis");
            assertThat(answer.code()).as(command).isEqualTo(4);
            assertThat(answer.err()).as(command).contains("mnist");
            assertThat(answer.out()).isEmpty();
        }
    }

    @Test
    void anUnknownArrayEndsWith4AndTheArraysThatThereAre() {
        daemon.ask("load", "mnist=" + Samples.vector(folder, "images", 10));

        for (String command : new String[] {"info", "path", "verify", "wait"}) {
            Answer answer = daemon.ask(command, "mnist/imagse");
            assertThat(answer.code()).as(command).isEqualTo(4);
            assertThat(answer.err())
                    .as(command)
                    .contains(
                            "no such array: dataset=mnist version=" + version("mnist/images") + " array=imagse store=")
                    .contains("; did you mean images?");
        }
        assertThat(daemon.ask("path", "mnist//").out()).endsWith("images.npy\n");
    }

    @Test
    void evictWarnsWhereADatasetCannotComeBack() throws Exception {
        try (Larder larder = Larder.connect(daemon.store());
                DatasetBuilder computed = larder.create("computed", Dtype.parse("<f4"), 3)) {
            computed.publish();
        }
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 5000));

        assertThat(daemon.ask("evict", "v").err()).isEmpty();
        assertThat(daemon.ask("evict", "computed").err()).contains("computed was computed and has no source");
    }

    @Test
    void evictRemovesADatasetAndItsFiles() {
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 5000));
        Path files = daemon.store().resolve("data/v/" + version("v"));

        Answer answer = daemon.ask("evict", "v");

        assertThat(answer.code()).isZero();
        assertThat(answer.out()).startsWith("Evicted v: files=");
        assertThat(daemon.ask("ls", "--json").out().strip()).isEqualTo("[]");
        assertThat(files).doesNotExist();
    }

    @Test
    void whatWasEvictedIsListedWithAllAndComesBackUnlessItIsForgotten() {
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 5000));
        long version = version("v");
        daemon.ask("evict", "v");

        assertThat(daemon.ask("ls", "--all").out()).contains("registered");
        assertThat(object("info", "v", "--json").get("state").getAsString()).isEqualTo("registered");
        assertThat(daemon.ask("wait", "v").code()).isZero();
        assertThat(version("v")).isEqualTo(version);

        assertThat(daemon.ask("evict", "--forget", "v").code()).isZero();
        assertThat(daemon.ask("wait", "v", "--timeout", "100ms").code()).isEqualTo(9);
    }

    @Test
    void aPinnedDatasetIsNotEvictedUntilItIsUnpinned() {
        daemon.ask("load", "--pin", "v=" + Samples.vector(folder, "v", 5000));

        Answer refused = daemon.ask("evict", "v");

        assertThat(refused.code()).isEqualTo(7);
        assertThat(refused.err())
                .contains("dataset is pinned: dataset=v version=" + version("v") + "; larder unpin v first");
        assertThat(object("info", "v", "--json").get("pinned").getAsBoolean()).isTrue();
        assertThat(object("status", "--json").get("pinnedBytes").getAsLong()).isPositive();
        assertThat(daemon.ask("unpin", "v").code()).isZero();
        assertThat(daemon.ask("evict", "v").code()).isZero();
        assertThat(daemon.ask("pin", "nothing").code()).isEqualTo(4);
    }

    @Test
    void whatIsRegisteredIsLoadedByWhoeverWaitsForIt() {
        Path source = Samples.vector(folder, "v", 5000);

        Answer answer = daemon.ask("register", "v=" + source, "--ttl", "1h");

        assertThat(answer.code()).isZero();
        assertThat(answer.err()).contains("registered v");
        assertThat(daemon.ask("ls").out()).contains("registered");
        assertThat(daemon.ask("wait", "v", "--timeout", "90s").code()).isZero();
        assertThat(object("info", "v", "--json").get("state").getAsString()).isEqualTo("resident");
        assertThat(daemon.ask("register", "x=" + folder.resolve("absent")).code())
                .isEqualTo(6);
        assertThat(daemon.ask("register", "v=" + source).code()).isEqualTo(7);
    }

    @Test
    void verifyFindsOneWrongByte() throws Exception {
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 5000));
        assertThat(daemon.ask("verify").out()).isEqualTo("Verified: files=1 bytes=5000 (4.9 KiB)\n");

        Path file = Path.of(daemon.ask("path", "v").out().strip());
        assertThat(file.toFile().setWritable(true)).isTrue();
        try (RandomAccessFile data = new RandomAccessFile(file.toFile(), "rw")) {
            data.seek(StoreLayout.DATA_START + 2500);
            data.write(0xff);
        }

        Answer answer = daemon.ask("verify", "v");
        assertThat(answer.code()).isEqualTo(8);
        assertThat(answer.err()).contains("v/v");
    }

    @Test
    void statusCountsWhatIsThere() {
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 5000));

        JsonObject status = object("status", "--json");

        assertThat(status.get("pid").getAsLong()).isEqualTo(daemon.pid());
        assertThat(status.get("store").getAsString()).isEqualTo(daemon.store().toString());
        assertThat(status.get("arrays").getAsInt()).isEqualTo(1);
        assertThat(status.get("usedBytes").getAsLong()).isGreaterThanOrEqualTo(5000);
        assertThat(daemon.ask("status").lines()).contains("arrays      1");
    }

    @Test
    void waitingMayBeginBeforeLoading() throws Exception {
        CompletableFuture<Answer> waiting =
                CompletableFuture.supplyAsync(() -> daemon.ask("wait", "v", "--timeout", "90s"));
        Path source = Samples.vector(folder, "v", 5000);

        assertThat(daemon.ask("load", "v=" + source).code()).isZero();

        assertThat(waiting.get(90, TimeUnit.SECONDS).code()).isZero();
    }

    @Test
    void waitingEndsWith9AtItsDeadline() {
        Answer answer = daemon.ask("wait", "nobody-loads-this", "--timeout", "200ms");

        assertThat(answer.code()).isEqualTo(9);
        assertThat(answer.err()).contains("nobody-loads-this", "timeoutMs=200");
    }

    @Test
    void waitingGoesOnWithAnotherDaemonAndNamesTheEndOfTheFirst() throws Exception {
        try (CommandProcess first = CommandProcess.serve();
                CommandProcess waiting = CommandProcess.onStore(first.store(), "wait", "v", "--timeout", "90s")) {
            waiting.awaitErr("waiting");
            first.kill();

            waiting.awaitErr("the daemon is gone, waiting for another: store=" + first.store());

            String source = "v=" + Samples.vector(folder, "v", 5000);
            try (CommandProcess second = CommandProcess.serveOn(first.store(), "--load", source)) {
                assertThat(waiting.exitCode()).as(second.err()).isZero();
            }
        }
    }

    @Test
    void keysChooseWhatIsLoaded() {
        Samples.vector(folder, "scene1_rgb", 10);
        Samples.vector(folder, "scene1_depth", 10);
        Samples.vector(folder, "scene1_mask", 10);

        Answer load = daemon.ask("load", "d=" + folder, "--columns", "rgb,depth", "--workers", "1");

        assertThat(load.code()).isZero();
        assertThat(daemon.ask("ls").out())
                .contains("d/scene1_rgb", "d/scene1_depth")
                .doesNotContain("mask");
    }

    @Test
    void anArrayThatSharesAFileIsFoundByItsOffset() {
        for (int i = 0; i < 5; i++) {
            Samples.vector(folder, "v" + i, 10);
        }

        Answer load = daemon.ask("load", "d=" + folder, "--pack-below", "1k");

        assertThat(load.code()).isZero();
        Answer path = daemon.ask("path", "d/v3");
        assertThat(path.out().strip()).endsWith("/d/" + version("d/v3") + "/pack-0000");
        String offset = object("info", "d/v3", "--json").get("offset").getAsString();
        assertThat(path.err()).contains("many arrays share this file", "offset=" + offset);
    }

    @Test
    void debugShowsWhereInTheDaemonALoadFailed() throws Exception {
        Path bad = Files.writeString(folder.resolve("bad.npy"), "not numpy");

        Answer usual = daemon.ask("load", "d=" + bad);
        Answer debug = daemon.ask("load", "--debug", "d=" + bad);

        assertThat(usual.err()).doesNotContain("\tat ");
        assertThat(debug.err()).contains("in the daemon", "\tat dev.larder.server.source.scan.ScannedSource.scan");
    }

    @Test
    void aBadLoadEndsWith6AndNamesTheFile() throws Exception {
        Path bad = Files.writeString(folder.resolve("bad.npy"), "not numpy");

        Answer answer = daemon.ask("load", "d=" + bad);

        assertThat(answer.code()).isEqualTo(6);
        assertThat(answer.err()).contains(bad.toString(), "offset=", "reason=");
        assertThat(daemon.ask("ls", "--json").out().strip()).isEqualTo("[]");
        assertThat(daemon.store().resolve("incoming")).isEmptyDirectory();
    }

    @Test
    void filesOfNoKnownKindAreSkippedWithOneLineThatCountsThem() throws Exception {
        Samples.vector(folder, "v", 10);
        Files.writeString(folder.resolve("README.txt"), "read me");
        Files.writeString(folder.resolve("notes.md"), "notes");

        Answer answer = daemon.ask("load", "d=" + folder);

        assertThat(answer.code()).isZero();
        assertThat(answer.out()).isEmpty();
        assertThat(answer.err())
                .contains(
                        "larder: skipped 2 files of no known kind: README.txt, notes.md; load texts with --as strings",
                        "larder: loaded: files=1 bytes=10");
    }

    @Test
    void evictIsRefusedWhileSomebodyReadsAndWorksOnceTheReaderIsKilled() throws Exception {
        daemon.ask("load", "v=" + Samples.vector(folder, "v", 5000));
        Process reader = Samples.reader(daemon.store().resolve("data/v/" + version("v") + "/lease"));

        Answer refused = daemon.ask("evict", "v");
        JsonObject leased = object("info", "v", "--json");
        reader.destroyForcibly().waitFor();

        assertThat(refused.code()).isEqualTo(7);
        assertThat(refused.err()).contains("v").contains(Long.toString(reader.pid()));
        assertThat(leased.get("leases").getAsInt()).isEqualTo(1);
        assertThat(daemon.ask("evict", "v").code()).isZero();
    }

    @Test
    void aBadNameEndsWith6() {
        Answer answer = daemon.ask("load", ".hidden=" + Samples.vector(folder, "v", 10));

        assertThat(answer.code()).isEqualTo(6);
    }

    @Test
    void stopTellsWhatItFreedAndEndsTheDaemon() {
        try (CommandProcess ended = CommandProcess.serve()) {
            ended.ask("load", "v=" + Samples.vector(folder, "v", 5000));

            Answer answer = ended.ask("stop");

            assertThat(answer.code()).isZero();
            assertThat(answer.out()).startsWith("Stopped and cleaned up: files=");
            assertThat(ended.exitCode()).isZero();
            assertThat(ended.err()).isEmpty();
            assertThat(ended.store()).doesNotExist();
        }
    }
}
