package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.internal.layout.CountersDescriptor;
import dev.larder.internal.layout.RowsDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Protocol;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Takes over a store that an earlier Larder has left on a disk, as an upgrade does. {@code src/test/golden/make-store} made it, with
 * a build of the commit in its name. A change of the format that cannot read it needs another format version.
 */
class EarlierStoreTest {
    private static final String EARLIER = "/store-1d601b0a.tar.gz";
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    @TempDir
    Path folder;

    private Path store;
    private List<JsonObject> expected = List.of();

    @BeforeEach
    void unpack() throws IOException, InterruptedException {
        Path archive = folder.resolve("store.tar.gz");
        try (InputStream in = Objects.requireNonNull(EarlierStoreTest.class.getResourceAsStream(EARLIER))) {
            Files.copy(in, archive);
        }
        Process tar = new ProcessBuilder(
                        "tar", "-xzf", archive.toString(), "-C", folder.toString(), "--no-same-owner", "-p")
                .inheritIO()
                .start();
        assertThat(tar.waitFor(1, TimeUnit.MINUTES) && tar.exitValue() == 0).isTrue();
        store = folder.resolve("store");
        JsonObject file = JsonParser.parseString(Files.readString(folder.resolve("expected.json")))
                .getAsJsonObject();
        expected = objects(file.getAsJsonArray("arrays"));
    }

    /** Writes whether the machine has been started again since the store was left. */
    private void leaveBy(String bootId) throws IOException {
        Path lock = store.resolve("daemon.lock");
        String text = Files.readString(lock);
        assertThat(text).contains("formatVersion=1\n", "clean=true\n", "bootId=");
        Files.writeString(lock, text.replaceFirst("bootId=.*", "bootId=" + bootId));
    }

    private static List<JsonObject> objects(JsonArray array) {
        List<JsonObject> objects = new ArrayList<>();
        for (JsonElement element : array) {
            objects.add(element.getAsJsonObject());
        }
        return objects;
    }

    /** Lists what a daemon has, with no more keys than the earlier one listed. */
    private List<JsonObject> listed(CommandProcess daemon) {
        List<JsonObject> listed =
                objects(new Gson().fromJson(daemon.ask("ls", "--all", "--json").out(), JsonArray.class));
        listed.forEach(array -> List.copyOf(array.keySet()).stream()
                .filter(key -> !expected.get(0).has(key))
                .forEach(array::remove));
        return listed;
    }

    @Test
    void anUpgradeOnTheSameMachineFindsAllThatTheEarlierOneListedWithRowsThatWereComputed() throws IOException {
        leaveBy(Files.readString(BOOT_ID).strip());

        try (CommandProcess daemon = CommandProcess.serveOn(store, "--keep")) {
            assertThat(expected).hasSizeGreaterThan(100);
            assertThat(listed(daemon)).isEqualTo(expected);
            assertThat(daemon.ask("verify").out()).startsWith("Verified: files=");
            assertThat(daemon.ask("info", "doubled").out()).contains("published 2 of 4 rows");
            assertThat(daemon.ask("errors", "--json").out().strip()).isEqualTo("[]");
        }
    }

    @Test
    void afterARestartOfTheMachineAllIsThereButRowsThatWereComputed() throws IOException {
        leaveBy("00000000-0000-4000-8000-000000000000");

        try (CommandProcess daemon = CommandProcess.serveOn(store, "--keep")) {
            assertThat(daemon.ask("verify").code()).isZero();
            assertThat(listed(daemon))
                    .isEqualTo(expected.stream()
                            .filter(array -> !array.get("state").getAsString().equals("computed"))
                            .toList());
        }
    }

    @Test
    void programsReadItsValues() throws Exception {
        leaveBy(Files.readString(BOOT_ID).strip());

        try (CommandProcess daemon = CommandProcess.serveOn(store, "--keep");
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
    void theVersionsOfTheFormatAreThoseOfTheGuide() throws IOException {
        String guide = Files.readString(Path.of("../../ops/docs/reference/FORMAT.md"));

        assertThat(guide).startsWith("# Format of a store\n\nFormat version " + StoreLayout.FORMAT_VERSION + ".");
        assertThat(guide)
                .contains("| store: folder, `index`, `manifest.json`, rings, regions | " + StoreLayout.FORMAT_VERSION
                        + " |")
                .contains("| `counters` | " + CountersDescriptor.FORMAT_VERSION + " |")
                .contains("| computed rows | " + RowsDescriptor.LAYOUT_VERSION + " |")
                .contains("| control plane | " + Protocol.NUMBER + " |");
    }

    @Test
    void pythonReadsItsValues() throws Exception {
        PythonModules.requireNumpy("python3");
        leaveBy(Files.readString(BOOT_ID).strip());
        String script = """
                import larder, numpy as np
                numbers = larder.dataset("numbers")
                for name in "f4 f8 f2 i1 i2 i4 i8 u1 u2 u4 u8 c8".split():
                    wanted = (np.arange(24).reshape(4, 6) * 3 % 7).astype(name)
                    assert numbers[name].dtype == wanted.dtype and (numbers[name] == wanted).all(), name
                assert numbers["big-endian"].dtype == ">i4" and numbers["big-endian"][4] == 4
                assert numbers["none"].shape == (0, 3) and numbers["one"] == 7
                assert numbers["record"]["x"][1, 0] == 4.5
                assert list(larder.dataset("words").strings("line")) == ["one", "", "three, of three", "grüße"]
                assert larder.dataset("table")["count"].tolist() == [1, 2]
                assert larder.open("small/part007").tolist() == [7, 7, 7]
                assert larder.open("computed/squares")[9] == 81
                """;

        try (CommandProcess daemon = CommandProcess.serveOn(store, "--keep")) {
            ProcessBuilder python = new ProcessBuilder("python3", "-B", "-W", "error", "-c", script).inheritIO();
            python.environment().put("LARDER_STORE", daemon.store().toString());
            python.environment()
                    .put(
                            "PYTHONPATH",
                            Path.of("../../ops/python").toAbsolutePath().toString());
            Process process = python.start();
            try {
                assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
                assertThat(process.exitValue()).isZero();
            } finally {
                process.destroyForcibly().waitFor();
            }
        }
    }
}
