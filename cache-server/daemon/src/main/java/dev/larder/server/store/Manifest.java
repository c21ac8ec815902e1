package dev.larder.server.store;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.stream.JsonWriter;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.ArrayEntry;
import dev.larder.layout.ColumnPart;
import dev.larder.layout.StoreLayout;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Writes {@code manifest.json}, for people and other languages, and reads back the sources that only it holds. */
final class Manifest {
    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

    private Manifest() {}

    /** Writes one line for each array and each source: a version may have a hundred thousand of them. */
    static void write(PublishedVersion version, Writer out) throws IOException {
        out.write("{\"formatVersion\": " + StoreLayout.FORMAT_VERSION);
        out.write(",\n\"dataset\": " + GSON.toJson(version.dataset()));
        out.write(",\n\"version\": " + version.version());
        out.write(",\n\"digest\": " + GSON.toJson(version.digest()));
        out.write(",\n\"published\": "
                + GSON.toJson(Instant.ofEpochMilli(version.publishedEpochMs()).toString()));
        out.write(",\n\"arrays\": [");
        Map<String, String> dtypes = new HashMap<>();
        String gap = "\n";
        for (ArrayEntry array : version.arrays()) {
            out.write(gap);
            gap = ",\n";
            write(
                    array,
                    dtypes.computeIfAbsent(
                            array.dtype(), dtype -> Dtype.parse(dtype).descrJson()),
                    out);
        }
        out.write("],\n\"origins\": " + GSON.toJson(version.origins()));
        out.write(",\n\"options\": " + GSON.toJson(version.provenance().options()));
        out.write(",\n\"sources\": [");
        gap = "\n";
        for (SourceRecord source : version.sources()) {
            out.write(gap);
            gap = ",\n";
            GSON.toJson(source, SourceRecord.class, out);
        }
        out.write("],\n\"publisher\": " + GSON.toJson(version.provenance().publisher()) + "}\n");
    }

    private static void write(ArrayEntry array, String dtypeJson, Writer out) throws IOException {
        JsonWriter json = new JsonWriter(out);
        json.setHtmlSafe(false);
        json.beginObject().name("name").value(array.name()).name("file").value(array.file());
        json.name("offset").value(array.offset()).name("dtype").jsonValue(dtypeJson);
        json.name("shape").beginArray();
        for (long dimension : array.shape()) {
            json.value(dimension);
        }
        json.endArray().name("order").value(Character.toString(array.order()));
        json.name("bytes").value(array.byteSize()).name("crc32c").value(array.crc32cHex());
        if (array.part() != ColumnPart.NONE) {
            json.name("part").value(array.part().name().toLowerCase(Locale.ROOT));
        }
        json.endObject();
    }

    static Provenance readProvenance(Path file) {
        try {
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException("it is no file");
            }
            Provenance provenance;
            try (Reader reader = Files.newBufferedReader(file)) {
                provenance = GSON.fromJson(reader, Provenance.class);
            }
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
