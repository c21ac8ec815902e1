package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.Larder;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ReleaseVersion;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.LockHolder;
import dev.larder.testing.OtherUser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads a store whose daemon was killed, and compares the answers with those that the daemon had given. */
class UnservedStoreTest {
    private static final List<String> LINES = List.of(
            "ls",
            "ls --all",
            "ls --json",
            "ls --all --json",
            "ls many",
            "ls m*/a0? --json",
            "ls gone",
            "info v",
            "info words --json",
            "info cold",
            "path v",
            "path many/a03",
            "path words",
            "ls nothing",
            "info vv",
            "info many/a99");

    @TempDir
    static Path folder;

    private static final Map<String, Answer> SERVED = new HashMap<>();
    private static Path store;
    private static @Nullable Process reader;

    @BeforeAll
    static void leaveAStoreBehind() throws IOException {
        try (CommandProcess daemon = CommandProcess.serve()) {
            store = daemon.store();
            fill(daemon);
            LINES.forEach(line -> SERVED.put(line, daemon.ask(line.split(" "))));
            daemon.kill();
        }
    }

    private static void fill(CommandProcess daemon) throws IOException {
        load(daemon, "load", "v=" + Samples.vector(folder, "v", 10));
        reader = Samples.reader(daemon.store().resolve("data/v/1/lease"));
        load(daemon, "load", "v=" + Samples.vector(folder, "v", 10_000)); // the version before is retired, and leased
        Path many = Files.createDirectory(folder.resolve("many"));
        for (int i = 0; i < 22; i++) {
            Samples.vector(many, String.format("a%02d", i), i);
        }
        load(daemon, "load", "many=" + many);
        Path words = Files.writeString(folder.resolve("words.txt"), "one\ntwo\n");
        load(daemon, "load", "words=" + words, "--as", "strings", "--pin");
        load(daemon, "load", "pairs=" + pairs());
        load(daemon, "load", "mapped=" + Samples.vector(folder, "m", 300), "--in-place");
        load(daemon, "load", "gone=" + Samples.vector(folder, "g", 300));
        load(daemon, "evict", "gone");
        load(daemon, "register", "cold=" + Samples.vector(folder, "c", 300));
        try (Larder larder = Larder.connect(daemon.store());
                var builder = larder.create("made", Dtype.parse("<i4"), 2)) {
            builder.array().write(0, ByteBuffer.allocate(8));
            builder.publish();
        }
    }

    private static void load(CommandProcess daemon, String... words) {
        Answer answer = daemon.ask(words);
        assertThat(answer.code()).as(answer.err()).isZero();
    }

    private static Path pairs() throws IOException {
        Dtype dtype = Dtype.parse("[('a', '<f4'), ('b', '<i2', (2,))]");
        ByteBuffer header = NpyHeader.of(dtype, Order.C, 1).encode(64);
        byte[] file = new byte[header.remaining() + 8];
        header.get(file, 0, header.remaining());
        return Files.write(folder.resolve("pairs.npy"), file);
    }

    @AfterAll
    static void removeIt() throws InterruptedException {
        if (reader != null) {
            reader.destroyForcibly().waitFor();
        }
        Folders.remove(store);
    }

    static List<String> lines() {
        return LINES;
    }

    private static Answer served(String line) {
        return Objects.requireNonNull(SERVED.get(line));
    }

    private static String note(Path where) {
        return "larder: note: no daemon runs, so this is read from the files of the store: store=" + where
                + "; to serve it: larder serve --detach --store " + where + "\n";
    }

    @ParameterizedTest
    @MethodSource("lines")
    void theAnswerIsThatOfTheDaemonWithANote(String line) {
        Answer answer = Answer.of(store, line.split(" "));

        assertThat(answer.out()).isEqualTo(served(line).out());
        assertThat(answer.code()).as(answer.err()).isEqualTo(served(line).code());
        assertThat(answer.err()).isEqualTo(note(store) + served(line).err());
    }

    @Test
    void pythonListsTheSame() throws IOException, InterruptedException {
        for (String line : List.of("ls", "ls --all", "ls --all --json", "info words --json", "path v")) {
            Process python = new ProcessBuilder(Stream.concat(
                                    Stream.of("python3", "-B", "-m", "larder"),
                                    Stream.of((line + " --store " + store).split(" ")))
                            .toList())
                    .directory(PythonModules.TESTS.toFile())
                    .redirectError(folder.resolve("err").toFile())
                    .start();
            String out = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(python.waitFor()).isZero();
            assertThat(plain(line, out))
                    .as(line)
                    .isEqualTo(plain(line, served(line).out()));
            assertThat(folder.resolve("err")).content().startsWith(note(store));
        }
    }

    private static Object plain(String line, String out) {
        return line.endsWith("--json") ? JsonParser.parseString(out) : out;
    }

    @Test
    void statusShowsWhatIsThereAndEndsWith3() {
        Answer answer = Answer.of(store, "status");

        assertThat(answer.code()).isEqualTo(3);
        assertThat(answer.lines().stream().map(line -> line.substring(0, 10).strip()))
                .containsExactly(
                        "store",
                        "daemon",
                        "used",
                        "leased",
                        "pinned",
                        "retired",
                        "arrays",
                        "clients",
                        "huge pages",
                        "registered");
        assertThat(answer.out())
                .contains(
                        "daemon      none; the last one died without cleaning up: pid ",
                        ", version " + ReleaseVersion.text() + ", started 2")
                .contains("arrays      28\nclients     1\n")
                .contains("registered  2 datasets");
        assertThat(answer.err())
                .startsWith("larder: no daemon at the store: store=" + store)
                .hasLineCount(1);
    }

    @Test
    void theJsonOfStatusHasTheKeysOfOneWithADaemon() {
        JsonObject status = JsonParser.parseString(
                        Answer.of(store, "status", "--json").out())
                .getAsJsonObject();

        assertThat(status.keySet())
                .startsWith(
                        ("store pid version capacityBytes usedBytes leasedBytes pinnedBytes retiredBytes reservedBytes"
                                        + " arrays clients hugePages hugeBytes hugeRefusedBytes memoryPolicy statusPage"
                                        + " uptimeSeconds feeds loads")
                                .split(" "));
        assertThat(status.get("pid").isJsonNull()).isTrue();
        assertThat(status.get("leasedBytes").getAsLong())
                .isPositive()
                .isEqualTo(status.get("retiredBytes").getAsLong());
        assertThat(status.getAsJsonObject("lastDaemon").get("clean").getAsBoolean())
                .isFalse();
    }

    @Test
    void theFirstCommandsFitAStoreWithoutADaemon() {
        assertThat(Answer.of(store).err())
                .contains("  no daemon serves " + store + ", which has 28 arrays\n  larder serve --detach ");
    }

    /** Returns a copy of the store, which the caller removes. */
    private static Path copy() throws IOException, InterruptedException {
        Path copy = LeavesNothingBehind.newStore();
        assertThat(new ProcessBuilder("cp", "-a", store.toString(), copy.toString())
                        .start()
                        .waitFor())
                .isZero();
        return copy;
    }

    @Test
    void versionsThatAreNotWholeAreNamedAndTheOthersListed() throws IOException, InterruptedException {
        Path copy = copy();
        try {
            Path data = copy.resolve("data");
            Files.delete(data.resolve("words/1/manifest.json"));
            Files.move(data.resolve("pairs/1"), data.resolve("pairs/1.damaged"));
            Files.writeString(data.resolve("gone/registered"), "{");
            Files.createDirectories(data.resolve("empty/1"));
            Files.createDirectories(copy.resolve("incoming/x"));

            Answer answer = Answer.of(copy, "ls");

            assertThat(answer.code()).isZero();
            assertThat(answer.lines().stream().map(line -> line.split(" ", -1)[0]))
                    .containsExactly("NAME", "cold", "made/data", "many/", "mapped/m", "v/v");
            assertThat(answer.err().lines().filter(line -> line.startsWith("larder: note: not listed: ")))
                    .hasSize(4)
                    .anyMatch(line -> line.contains("version is damaged: folder=" + data.resolve("words/1")))
                    .anyMatch(line ->
                            line.contains("damaged data was set aside: folder=" + data.resolve("pairs/1.damaged")))
                    .anyMatch(line -> line.contains("registration is damaged: file=" + data.resolve("gone/registered")))
                    .anyMatch(line -> line.contains("folder=" + data.resolve("empty/1")));
            for (String name : List.of("words", "words/x", "pairs", "gone", "empty")) {
                Answer info = Answer.of(copy, "info", name);
                assertThat(info.code()).isIn(6, 8);
                assertThat(info.err().lines().reduce("", (first, last) -> last))
                        .contains("damaged")
                        .contains("=" + data.resolve(name.replaceFirst("/.*", "")))
                        .doesNotContain("did you mean");
            }
        } finally {
            Folders.remove(copy);
        }
    }

    @Test
    void aDatasetWithoutACurrentVersionIsNotSuggestedInItsPlace() throws IOException, InterruptedException {
        Path copy = copy();
        try {
            Files.delete(copy.resolve("data/many/current"));

            Answer answer = Answer.of(copy, "info", "many");

            assertThat(answer.code()).isEqualTo(4);
            assertThat(answer.err())
                    .contains("no such dataset: dataset=many store=" + copy + "; ")
                    .doesNotContain("did you mean many");
        } finally {
            Folders.remove(copy);
        }
    }

    @Test
    void aDaemonThatStartsIsNamedAndOneThatKeptItsStoreToo() throws IOException, InterruptedException {
        Path copy = copy();
        Path lock = new StoreLayout(copy).lock();
        String record = Files.readString(lock).replace("clean=false", "clean=true");
        Files.writeString(lock, record);
        try (ChildJvm daemon = ChildJvm.start(LockHolder.class, lock.toString(), "exclusive")) {
            assertThat(daemon.awaitLine()).isEqualTo("true");

            assertThat(Answer.of(copy, "ls").err()).contains("a daemon starts or ends", "pid=" + daemon.pid());
            assertThat(Answer.of(copy, "status").out()).contains("daemon      starts or ends: pid " + daemon.pid());
        }
        assertThat(Answer.of(copy, "status").out()).contains("none; the last one ended and kept the store: pid ");
        Folders.remove(copy);
    }

    @Test
    void aFolderThatIsNoStoreHasNoArrays() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));

        for (String line : List.of("ls", "status", "info v")) {
            Answer answer = Answer.of(empty, line.split(" "));
            assertThat(answer.code()).isEqualTo(3);
            assertThat(answer.out()).isEmpty();
            assertThat(answer.err()).startsWith("larder: no daemon at the store: store=" + empty);
        }
    }

    @Test
    void aMemberOfTheGroupListsItTooAndNoOtherUser() throws IOException {
        OtherUser.assumePossible();
        String member = String.valueOf(OtherUser.NOBODY.group());
        try (CommandProcess daemon =
                        CommandProcess.serve("--group", member, "--load", "v=" + Samples.vector(folder, "shared", 10));
                OtherUsersCommand nobody = new OtherUsersCommand(OtherUser.NOBODY)) {
            daemon.kill();
            String shared = daemon.store().toString();

            assertThat(nobody.larder("ls", "--store", shared))
                    .contains("note: no daemon runs", "v/shared  |u1    (10,)");
            assertThat(nobody.larder("status", "--store", shared)).contains("its record cannot be read by this user");
            assertThat(nobody.larder("ls", "--store", store.toString())).contains("the store belongs to another user");
            Folders.remove(daemon.store());
        }
    }

    @Test
    void theNextDaemonServesWhatWasListed() throws IOException, InterruptedException {
        Path copy = copy();
        String listed = Answer.of(copy, "ls").out();
        try (CommandProcess daemon = CommandProcess.serveOn(copy)) {
            assertThat(daemon.ask("ls").out()).isEqualTo(listed);
        }
        assertThat(copy).doesNotExist();
    }
}
