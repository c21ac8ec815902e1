package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads twice, again, in place and in JSON, and is interrupted. */
class LoadTest {
    @TempDir
    Path folder;

    private static CommandProcess daemon;
    private Path source;

    @BeforeAll
    static void serve() {
        daemon = CommandProcess.serve();
    }

    @BeforeEach
    void writeSource() {
        source = Samples.vector(folder, "a", 10);
    }

    @AfterEach
    void forget() {
        daemon.forgetAll();
    }

    @AfterAll
    static void stop() {
        daemon.close();
        assertThat(daemon.store()).doesNotExist();
    }

    private static List<JsonObject> events(String err) {
        return err.lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
    }

    @Test
    void theSecondLoadSaysThatNothingHasChanged() {
        daemon.ask("load", "twice=" + source);

        Answer again = daemon.ask("load", "twice=" + source);

        assertThat(again.code()).isZero();
        assertThat(again.err())
                .contains("larder: twice is unchanged: version=1 digest=")
                .doesNotContain("loaded:");
    }

    @Test
    void withoutAnyWordTheStoreAndTheNextCommandsAreShown() {
        Answer empty = daemon.ask();
        daemon.ask("load", "d=" + source);
        Answer loaded = daemon.ask();

        assertThat(empty.err()).contains("has 0 arrays", "  larder load ").doesNotContain("larder ls ");
        assertThat(loaded.err()).contains("has 1 array, ", "  larder ls ", "  larder stop ");
        assertThat(loaded.err().lines().skip(2).flatMap(line -> CommandWords.complaints(line).stream()))
                .isEmpty();
    }

    @Test
    void aReloadSaysWhatItFound() {
        daemon.ask("load", "reloaded=" + source);

        assertThat(daemon.ask("reload", "reloaded").err()).contains("reloaded is unchanged: version=1");
        Samples.vector(folder, "a", 20);
        assertThat(daemon.ask("reload", "reloaded").err()).contains("reloaded has changed: version=2 replaces=1");
        assertThat(daemon.ask("reload", "e").code()).isEqualTo(4);
    }

    @Test
    void verifyComparesWithSources() throws Exception {
        daemon.ask("load", "d=" + source);

        assertThat(daemon.ask("verify", "--source", "d").out()).startsWith("Verified with sources: files=1");
        byte[] bytes = Files.readAllBytes(source);
        bytes[bytes.length - 1] ^= 1;
        Files.write(source, bytes);
        assertThat(daemon.ask("verify", "--source", "d").code()).isEqualTo(8);
        Files.delete(source);
        assertThat(daemon.ask("verify", "--source", "d").code()).isEqualTo(6);
        assertThat(daemon.ask("verify", "d").code()).isZero();
    }

    @Test
    void anIndexThatSomebodyRemovedComesBackWithTheNextOpen() throws Exception {
        daemon.ask("load", "damaged=" + source);
        Files.delete(daemon.store().resolve("data/damaged/1/index"));

        Answer shown = daemon.ask("show", "damaged/a");

        assertThat(shown.code()).as(shown.err()).isZero();
        assertThat(daemon.ask("verify", "damaged").code()).isZero();
    }

    @Test
    void filesInPlaceAreListedAsMapped() {
        assertThat(daemon.ask("load", "--in-place", "d=" + source).code()).isZero();

        assertThat(daemon.ask("info", "d").out()).contains("state    mapped", "path     ");
        daemon.ask("evict", "d");
        assertThat(source).exists();
    }

    @Test
    void jsonEventsAreAllThatIsOnStandardError() {
        List<JsonObject> events =
                events(daemon.ask("load", "--json", "d=" + source).err());

        assertThat(events).extracting(event -> event.get("event").getAsString()).contains("progress");
        assertThat(events.get(events.size() - 1))
                .hasToString("{\"event\":\"done\",\"files\":1,\"bytes\":10,\"message\":\"\"}");
        assertThat(events(daemon.ask("wait", "--json", "d").err())).hasSize(1);
    }

    @Test
    void aFailureIsTheLastEvent() {
        Answer answer = daemon.ask("load", "--json", "d=" + folder.resolve("absent.npy"));

        List<JsonObject> events = events(answer.err());
        assertThat(answer.code()).isEqualTo(6);
        assertThat(events.get(events.size() - 1).get("event").getAsString()).isEqualTo("error");
        assertThat(events.get(events.size() - 1).get("message").getAsString()).contains("absent.npy");
    }

    @Test
    void serveTellsEventsToo() {
        try (CommandProcess other = CommandProcess.serve("--json", "--load", "d=" + source)) {
            List<JsonObject> events = events(other.err());
            assertThat(events.get(events.size() - 1).get("event").getAsString()).isEqualTo("done");
        }
    }

    @Test
    void anInterruptedLoadSaysSoAndLeavesNothing() {
        Path large = Samples.large(folder, 2L << 30);
        try (CommandProcess load = CommandProcess.onStore(daemon.store(), "load", "big=" + large)) {
            load.awaitErr("loading big").signal("INT");

            assertThat(load.exitCode()).isEqualTo(130);
            assertThat(load.err())
                    .contains("larder: load was interrupted", "the daemon cancels a load that no client waits for");
        }
        await().untilAsserted(() -> assertThat(daemon.ask("info", "big").code()).isEqualTo(4));
    }
}
