package dev.larder.server.store;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.ArrayEntry;
import dev.larder.layout.ColumnPart;
import dev.larder.layout.StoreLayout;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;

/** Writes {@code manifest.json}, for people and other languages, and reads back the sources that only it holds. */
final class Manifest {
    private static final Gson GSON =
            new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

    private Manifest() {}

    static String write(PublishedVersion version) {
        JsonObject root = new JsonObject();
        root.addProperty("formatVersion", StoreLayout.FORMAT_VERSION);
        root.addProperty("dataset", version.dataset());
        root.addProperty("version", version.version());
        root.addProperty("digest", version.digest());
        root.addProperty(
                "published", Instant.ofEpochMilli(version.publishedEpochMs()).toString());
        JsonArray arrays = new JsonArray();
        version.arrays().forEach(array -> arrays.add(toJson(array)));
        root.add("arrays", arrays);
        root.add("origins", GSON.toJsonTree(version.origins()));
        root.add("options", GSON.toJsonTree(version.provenance().options()));
        JsonArray sources = new JsonArray();
        version.sources().forEach(source -> sources.add(GSON.toJsonTree(source)));
        root.add("sources", sources);
        return GSON.toJson(root) + "\n";
    }

    private static JsonObject toJson(ArrayEntry array) {
        JsonObject json = new JsonObject();
        json.addProperty("name", array.name());
        json.addProperty("file", array.file());
        json.addProperty("offset", array.offset());
        json.add("dtype", JsonParser.parseString(Dtype.parse(array.dtype()).descrJson()));
        JsonArray shape = new JsonArray();
        for (long dimension : array.shape()) {
            shape.add(dimension);
        }
        json.add("shape", shape);
        json.addProperty("order", Character.toString(array.order()));
        json.addProperty("bytes", array.byteSize());
        json.addProperty("crc32c", array.crc32cHex());
        if (array.part() != ColumnPart.NONE) {
            json.addProperty("part", array.part().name().toLowerCase(Locale.ROOT));
        }
        return json;
    }

    static Provenance readProvenance(Path file) {
        try {
            Provenance provenance = GSON.fromJson(Files.readString(file), Provenance.class);
            Objects.requireNonNull(provenance.options());
            provenance.sources().forEach(source -> Objects.requireNonNull(source.sample()));
            return provenance;
        } catch (IOException | RuntimeException e) {
            throw Failure.of(ErrorCode.CHECKSUM, "manifest is damaged")
                    .with("file", file)
                    .with("reason", e.getClass().getSimpleName())
                    .cause(e)
                    .remedy("load the dataset anew");
        }
    }
}
