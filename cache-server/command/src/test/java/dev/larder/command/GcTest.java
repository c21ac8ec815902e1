package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.npy.Dtype;
import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.OtherUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Leaves stores behind as daemons do that are killed, and sees which of them go. */
class GcTest {
    private static final List<String> OWN_PIDS = List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc");

    @TempDir
    Path sources;

    /** Stands in for {@code /dev/shm}. */
    private Path shared;

    private Path store;

    @BeforeEach
    void makeSharedMemory() throws IOException {
        shared = Files.createDirectory(LeavesNothingBehind.newStore());
        store = shared.resolve("larder-a");
    }

    @AfterEach
    void removeSharedMemory() {
        Folders.remove(shared);
    }

    @Test
    void aFolderThatIsNotThereIsNoFolderWithoutStores() {
        Answer answer = Answer.of("gc", "--under", "/no/such/folder");

        assertThat(answer.code()).isEqualTo(6);
        assertThat(answer.err()).contains("the folder does not exist: under=/no/such/folder");
    }

    @Test
    void theDoctorFindsADeadStoreWhateverItsNameIs() {
        Path mine = shared.resolve("mine");
        leave(mine);

        Answer doctor = Answer.of(mine, "doctor");
        Answer gc = Answer.of(mine, "gc", "--under", shared.toString());

        assertThat(doctor.out()).contains("stores of dead daemons", "larder gc --store " + mine);
        assertThat(gc.out()).contains("Removed: stores=1");
        assertThat(Answer.of(mine, "doctor").out())
                .doesNotContain("larder gc --store " + mine)
                .doesNotContainPattern(" leftovers .*" + mine);
    }

    private CommandProcess serve(Path where, String... arguments) {
        return CommandProcess.serveOn(where, arguments);
    }

    private void leave(Path where) {
        try (CommandProcess daemon = serve(where, "--load", "v=" + Samples.vector(sources, "x", 10_000))) {
            daemon.kill();
        }
    }

    private Answer gc(String... options) {
        return Answer.of(
                store,
                Stream.concat(Stream.of("gc", "--under", shared.toString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    @Test
    void theStoreOfADaemonThatWasKilledIsRemoved() {
        leave(store);

        Answer answer = gc();

        assertThat(answer.code()).isZero();
        assertThat(answer.out()).contains("removed  " + store + "  files=").contains("Removed: stores=1 files=");
        assertThat(store).doesNotExist();
        assertThat(gc().out()).isEqualTo("Removed: stores=0 files=0 bytes=0\n");
    }

    @Test
    void aStoreThatIsNamedGoesAlone() {
        Path named = LeavesNothingBehind.newStore();
        Path other = LeavesNothingBehind.newStore(); // where gc looks without a name, too
        leave(named);
        leave(other);

        JsonObject removed = only(Answer.of(named, "gc", "--json"));

        assertThat(removed.get("store").getAsString()).isEqualTo(named.toString());
        assertThat(named).doesNotExist();
        assertThat(only(Answer.of(other, "gc", "--json")).get("state").getAsString())
                .isEqualTo("removed");
    }

    @Test
    void aDryRunChangesNothingAndCountsWhatAGcThenRemoves() {
        leave(store);

        JsonObject seen = only(gc("--dry-run", "--json"));
        JsonObject removed = only(gc("--json"));

        assertThat(seen.get("state").getAsString()).isEqualTo("dead");
        assertThat(removed.get("state").getAsString()).isEqualTo("removed");
        assertThat(seen.get("files").getAsLong())
                .isEqualTo(removed.get("files").getAsLong())
                .isGreaterThan(5);
        assertThat(seen.get("bytes").getAsLong()).isGreaterThan(10_000);
    }

    private static JsonObject only(Answer answer) {
        JsonArray reports = JsonParser.parseString(answer.out()).getAsJsonArray();
        assertThat(reports).hasSize(1);
        return reports.get(0).getAsJsonObject();
    }

    @Test
    void theStoreOfALiveDaemonIsNeverTouched() {
        try (CommandProcess daemon = serve(store, "--load", "v=" + Samples.vector(sources, "x", 1000))) {
            assertThat(gc("--kept").out()).contains("live     " + store + "  (it is in use: pid=" + daemon.pid() + ")");

            daemon.signal("STOP");
            assertThat(gc("--kept").out()).contains("live     ");
            daemon.signal("CONT");

            assertThat(daemon.ask("ls").lines()).hasSize(2);
        }
    }

    @Test
    void whatIsStillReadIsUnlinkedTooAndToldWithItsReaders() throws Exception {
        leave(store);
        Process reader = Samples.reader(store.resolve("data/v/1/lease"));
        try {
            JsonObject removed = only(gc("--json"));

            assertThat(removed.get("leased").getAsJsonArray()).hasToString("[\"v/1\"]");
            assertThat(removed.get("pids").getAsJsonArray()).hasToString("[" + reader.pid() + "]");
            assertThat(removed.get("heldUntilExit").getAsLong())
                    .isBetween(10_000L, removed.get("bytes").getAsLong());
            assertThat(store).doesNotExist();
            assertThat(reader.isAlive()).isTrue();
        } finally {
            reader.destroyForcibly().waitFor();
        }
    }

    @Test
    void aStoreThatWasLeftOnPurposeGoesOnlyOnRequest() {
        try (CommandProcess daemon = serve(store, "--keep", "--load", "v=" + Samples.vector(sources, "x", 1000))) {
            assertThat(daemon.signal("TERM").exitCode()).isZero();
        }

        assertThat(gc().out())
                .contains("kept     " + store)
                .contains("its daemon ended and kept it", "larder gc --kept --store " + store + " removes it")
                .contains("stores=0");
        assertThat(store).isDirectory();
        assertThat(gc("--kept").out()).contains("removed  " + store);
        assertThat(store).doesNotExist();
    }

    @Test
    void computedDataOfADaemonThatWasKilledGoesOnlyOnRequest() {
        try (CommandProcess daemon = serve(store, "--load", "v=" + Samples.vector(sources, "x", 1000));
                Larder larder = Larder.connect(store)) {
            try (DatasetBuilder builder = larder.create("made", Dtype.parse("<f4"), 3)) {
                builder.publish();
            }
            daemon.kill();
        }

        assertThat(gc().out())
                .contains(
                        "computed " + store + "  files=", "datasets=[made]; larder serve --store " + store, "stores=0");
        assertThat(Answer.of(store, "doctor").out()).contains("larder serve --store " + store);
        try (CommandProcess again = serve(store)) {
            assertThat(again.ask("verify", "made").code()).isZero();
            again.kill();
        }
        assertThat(gc("--kept").out()).contains("removed  " + store);
        assertThat(store).doesNotExist();
    }

    @Test
    void aStoreWhoseManifestsLieOrCannotBeReadIsKept() throws IOException {
        leave(store);
        Path manifest = store.resolve("data/v/1/manifest.json");
        for (String text : List.of("{\"origins\": []}", "{\"dataset\": \"v\"}", "{\"origins\": 7}", "{", "")) {
            Files.delete(manifest);
            Files.writeString(manifest, text);

            assertThat(gc().out()).contains("computed " + store);
        }
        Files.delete(manifest);
        Files.createSymbolicLink(manifest, Path.of("/dev/zero"));
        assertThat(gc().out()).contains("computed " + store);
    }

    @Test
    void whatIsNoStoreIsLeftAloneAndNamed() throws IOException {
        Path notes = Files.createDirectory(shared.resolve("larder-notes"));
        Files.writeString(notes.resolve("todo"), "x");
        Path link = Files.createSymbolicLink(shared.resolve("larder-link"), notes);
        Path strange = Files.createDirectory(shared.resolve("larder-strange"));
        Files.writeString(strange.resolve("daemon.lock"), "not ours");
        Files.createDirectory(strange.resolve("data"));
        Path file = Files.writeString(shared.resolve("larder-file"), "x");

        Answer answer = gc("--kept");

        assertThat(answer.lines())
                .contains(
                        "no store " + notes + "  (it has no daemon.lock)",
                        "no store " + link + "  (it is a symbolic link)",
                        "no store " + strange + "  (its daemon.lock has no valid record)",
                        "no store " + file + "  (it is a file)");
        assertThat(List.of(notes.resolve("todo"), link, strange.resolve("data"), file))
                .allMatch(Files::exists);
    }

    @Test
    void otherThingsInTheFolderOfADeadStoreStay() throws IOException {
        leave(store);
        Path outside = Files.writeString(sources.resolve("outside"), "x");
        Path mine = Files.writeString(store.resolve("mine"), "x");
        Files.createSymbolicLink(store.resolve("data/v/link"), sources);

        assertThat(gc().out()).contains("the folder is kept");

        assertThat(mine).exists();
        assertThat(outside).exists();
        assertThat(store.resolve("data")).doesNotExist();
    }

    @Tag("slow")
    @Test
    void pidsMeanNothingWhereEveryDaemonIsTheFirstProcessOfItsNamespace() throws Exception {
        assumeTrue(
                run("unshare", "--pid", "--fork", "--mount-proc", "true") == 0,
                "needs the right to make pid namespaces");
        leave(shared.resolve("larder-b"));
        String source = "v=" + Samples.vector(sources, "x", 1000);
        try (CommandProcess live = CommandProcess.by(OWN_PIDS, store, "serve", "--load", source)) {
            live.awaitOut("Done caching.");
            try (CommandProcess gc = CommandProcess.by(OWN_PIDS, store, "gc", "--under", shared.toString())) {
                assertThat(gc.exitCode()).isZero();
                assertThat(gc.out())
                        .contains("live     " + store + "  (it is in use: pid=1)")
                        .contains("removed  " + shared.resolve("larder-b"));
            }
            assertThat(live.ask("verify").code()).isZero();
            assertThat(live.ask("stop").code()).isZero();
            assertThat(live.exitCode()).isZero();
        }
    }

    /** Runs a program and returns its exit code; 127 where there is none. */
    private static int run(String... words) throws InterruptedException {
        try {
            return new ProcessBuilder(words).start().waitFor();
        } catch (IOException absent) {
            return 127;
        }
    }

    @Test
    void everyUserCleansUpAfterItsOwnDaemonsAndRootAfterAll() throws Exception {
        OtherUser.assumePossible();
        Path roots = shared.resolve("larder-b");
        leave(store);
        leave(roots);
        run("chown", "-R", "nobody", store.toString());
        run("chmod", "1777", shared.toString());

        try (OtherUsersCommand nobody = new OtherUsersCommand(OtherUser.NOBODY)) {
            assertThat(nobody.larder("gc", "--under", shared.toString()))
                    .contains("removed  " + store)
                    .contains("foreign  " + roots + "  (it belongs to another user: owner=root)");
        }
        assertThat(store).doesNotExist();
        run("chown", "-R", "nobody", roots.toString());
        assertThat(gc().out()).contains("removed  " + roots);
        assertThat(roots).doesNotExist();
    }

    @Tag("slow")
    @RepeatedTest(2)
    void aDaemonThatStartsMeanwhileComesUpWithAllItLoads() {
        leave(store);
        CompletableFuture<Answer> gc = CompletableFuture.supplyAsync(() -> gc());

        try (CommandProcess daemon = serve(store, "--load", "w=" + Samples.vector(sources, "y", 1000))) {
            assertThat(gc.join().code()).isZero();
            assertThat(daemon.ask("verify").code()).isZero();
            assertThat(daemon.ask("ls").out()).contains("w");
            assertThat(daemon.signal("TERM").exitCode()).isZero();
        }
        assertThat(store).doesNotExist();
    }

    @Test
    void aDaemonThatStartsTellsOfDeadOnesBesideItAndRemovesNothing() throws IOException {
        Path dead = shared.resolve("larder-b");
        leave(dead);
        FileTime anHourAgo = FileTime.from(Instant.now().minusSeconds(3600));
        Files.setLastModifiedTime(dead.resolve("daemon.lock"), anHourAgo);

        try (CommandProcess daemon = serve(store)) {
            assertThat(daemon.err())
                    .contains("stores of dead daemons are beside this one: stores=1 files=")
                    .contains("larder gc --under " + shared + " removes them")
                    .hasLineCount(1);
            assertThat(dead.resolve("data/v/1")).isDirectory();
        }
    }

    @Tag("slow")
    @Test
    void aDaemonThatLogsInJsonTellsOfDeadOnesInJsonAndProgressHasTheLinesForItself() throws IOException {
        Path dead = shared.resolve("larder-b");
        leave(dead);
        FileTime anHourAgo = FileTime.from(Instant.now().minusSeconds(3600));
        Files.setLastModifiedTime(dead.resolve("daemon.lock"), anHourAgo);

        try (CommandProcess daemon =
                CommandProcess.onStore(store, "serve", "--log-json").awaitErr("stores of dead")) {
            String message = JsonParser.parseString(daemon.err())
                    .getAsJsonObject()
                    .get("message")
                    .getAsString();
            assertThat(message).startsWith("stores of dead daemons are beside this one: stores=1 files=");
            daemon.signal("TERM").exitCode();
        }
        try (CommandProcess daemon = serve(store, "--json")) {
            assertThat(daemon.err()).isEmpty();
        }
    }
}
