package dev.larder.server.store;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import com.google.gson.stream.JsonReader;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Finds versions that cannot be loaded again, in a store of this user or of another. */
final class SourcelessVersion {
    private SourcelessVersion() {}

    /** Returns whether removing a version would lose data. True if its manifest cannot be read. */
    static boolean is(Posix posix, Path version) {
        Path manifest = version.resolve(StoreLayout.MANIFEST);
        if (!Files.exists(manifest, LinkOption.NOFOLLOW_LINKS)) {
            return String.valueOf(version.getFileName())
                    .endsWith(VersionReader.DAMAGED); // otherwise its eviction had begun
        }
        try {
            int descriptor =
                    posix.openForReading(manifest); // never blocks, even if the owner of the store put a pipe there
            try {
                return !posix.status(descriptor).isRegular() || !hasOrigin(Path.of("/proc/self/fd/" + descriptor));
            } finally {
                posix.close(descriptor);
            }
        } catch (IOException | LarderException | JsonParseException | IllegalStateException e) {
            return true;
        }
    }

    /** Reads no more of the manifest than needed: it may list a hundred thousand files. */
    private static boolean hasOrigin(Path manifest) throws IOException {
        try (Reader text = Files.newBufferedReader(manifest);
                JsonReader json = new Gson().newJsonReader(text)) {
            json.beginObject();
            while (json.hasNext()) {
                if (json.nextName().equals("origins")) {
                    json.beginArray();
                    return json.hasNext();
                }
                json.skipValue();
            }
            return false;
        }
    }
}
