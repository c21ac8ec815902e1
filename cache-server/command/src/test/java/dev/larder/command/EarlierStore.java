package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** What an earlier Larder has left on a disk, unpacked. {@code src/test/golden/make-store} made it, with a build of the commit. */
record EarlierStore(Path folder) {
    /** The last commit whose store has rings and states beside it. */
    static final String LAST = "28531cac";

    static final String FIRST = "1d601b0a";

    private static final String IN_PYTHON = "test_earlier";
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    /** Unpacks the store of a commit into a folder. */
    static EarlierStore unpack(String commit, Path folder) throws IOException, InterruptedException {
        Path archive = folder.resolve("store.tar.gz");
        try (InputStream in = Objects.requireNonNull(
                EarlierStore.class.getResourceAsStream("/store-" + commit + ".tar.gz"), commit)) {
            Files.copy(in, archive);
        }
        Process tar = new ProcessBuilder(
                        "tar", "-xzf", archive.toString(), "-C", folder.toString(), "--no-same-owner", "-p")
                .inheritIO()
                .start();
        assertThat(tar.waitFor(1, TimeUnit.MINUTES) && tar.exitValue() == 0).isTrue();
        return new EarlierStore(folder);
    }

    Path store() {
        return folder.resolve("store");
    }

    /** Returns what {@code ls --all --json} of the earlier Larder had. */
    List<JsonObject> expected() throws IOException {
        JsonObject file = JsonParser.parseString(Files.readString(folder.resolve("expected.json")))
                .getAsJsonObject();
        return objects(file.getAsJsonArray("arrays"));
    }

    static List<JsonObject> objects(JsonArray array) {
        List<JsonObject> objects = new ArrayList<>();
        for (JsonElement element : array) {
            objects.add(element.getAsJsonObject());
        }
        return objects;
    }

    /** Runs a class of {@code test_earlier.py}, with a daemon on the store. */
    void requirePassed(CommandProcess daemon, String tests) throws Exception {
        Map<String, String> environment =
                Map.of("LARDER_STORE", daemon.store().toString(), "LARDER_EARLIER", folder.toString());

        PythonModules.requirePassed("python3", IN_PYTHON + "." + tests, folder, environment);
    }

    /** Starts a daemon on the store, on the machine that the earlier one left it on. */
    CommandProcess serve() throws IOException {
        return serveAfter(Files.readString(BOOT_ID).strip());
    }

    /** Starts a daemon on the store, which the earlier one left during another boot of the machine. */
    CommandProcess serveAfter(String bootId) throws IOException {
        Path lock = store().resolve("daemon.lock");
        String text = Files.readString(lock);
        assertThat(text).contains("formatVersion=1\n", "clean=true\n", "bootId=");
        Files.writeString(lock, text.replaceFirst("bootId=.*", "bootId=" + bootId));
        return CommandProcess.serveOn(store(), "--keep");
    }
}
