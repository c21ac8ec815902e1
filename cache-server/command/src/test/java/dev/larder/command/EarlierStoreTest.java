package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Takes over a store that an earlier Larder has left on a disk, as an upgrade does. A change of the format that cannot read it needs
 * another format version.
 */
@ParameterizedClass
@ValueSource(strings = {EarlierStore.FIRST, EarlierStore.LAST})
class EarlierStoreTest {
    @TempDir
    Path folder;

    private final String commit;

    private EarlierStore earlier;
    private List<JsonObject> expected = List.of();

    EarlierStoreTest(String commit) {
        this.commit = commit;
    }

    @BeforeEach
    void unpack() throws IOException, InterruptedException {
        earlier = EarlierStore.unpack(commit, folder);
        expected = earlier.expected();
    }

    /** Lists what a daemon has, with no more keys than the earlier one listed. */
    private List<JsonObject> listed(CommandProcess daemon) {
        List<JsonObject> listed = EarlierStore.objects(
                new Gson().fromJson(daemon.ask("ls", "--all", "--json").out(), JsonArray.class));
        listed.forEach(array -> List.copyOf(array.keySet()).stream()
                .filter(key -> !expected.get(0).has(key))
                .forEach(array::remove));
        return listed;
    }

    @Test
    void anUpgradeOnTheSameMachineFindsAllThatTheEarlierOneListedWithRowsThatWereComputed() throws IOException {
        try (CommandProcess daemon = earlier.serve()) {
            assertThat(expected).hasSizeGreaterThan(100);
            assertThat(listed(daemon)).isEqualTo(expected);
            assertThat(daemon.ask("verify").out()).startsWith("Verified: files=");
            assertThat(daemon.ask("info", "doubled").out()).contains("published 2 of 4 rows");
            assertThat(daemon.ask("errors", "--json").out().strip()).isEqualTo("[]");
        }
    }

    @Tag("slow")
    @Test
    void afterARestartOfTheMachineAllIsThereButRowsThatWereComputed() throws IOException {
        try (CommandProcess daemon = earlier.serveAfter("00000000-0000-4000-8000-000000000000")) {
            await().atMost(Duration.ofSeconds(60)) // it verifies all versions first
                    .untilAsserted(() -> assertThat(listed(daemon))
                            .isEqualTo(expected.stream()
                                    .filter(array ->
                                            !array.get("state").getAsString().equals("computed"))
                                    .toList()));
            assertThat(daemon.ask("verify").code()).isZero();
        }
    }

    @Tag("slow")
    @Test
    void programsReadItsValues() throws Exception {
        try (CommandProcess daemon = earlier.serve();
                Larder larder = Larder.connect(daemon.store());
                OwnedArrayView fortran = larder.open("numbers/fortran");
                OwnedArrayView packed = larder.open("small/part069");
                OwnedArrayView twice = larder.open("twice/a");
                Dataset words = larder.dataset("words");
                Dataset raw = larder.dataset("raw")) {
            assertThat(fortran.getDouble(2, 3)).isEqualTo(11);
            assertThat(packed.getInt(4)).isEqualTo(69);
            assertThat(twice.getInt(19)).isEqualTo(19);
            assertThat(words.strings("line").get(3)).isEqualTo("grüße");
            assertThat(raw.bytes("files").rows()).isEqualTo(3);
        }
    }

    @Test
    void pythonReadsItsValues() throws Exception {
        try (CommandProcess daemon = earlier.serve()) {
            earlier.requirePassed(daemon, "EarlierStoreTest");
        }
    }
}
