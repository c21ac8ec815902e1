package dev.larder.server.store.version;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.stream.JsonWriter;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Writes {@code manifest.json}, for people and other languages, and reads back the sources, which no other file holds. */
public final class Manifest {
    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

    private Manifest() {}

    /** Writes one line for each array and each source: a version may have a hundred thousand of them. */
    public static void write(PublishedVersion version, Writer out) throws IOException {
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
        out.write("]");
        if (version.provenance().shard() != null) {
            out.write(",\n\"shard\": " + GSON.toJson(version.provenance().shard()));
        }
        out.write(",\n\"origins\": " + GSON.toJson(version.origins()));
        out.write(",\n\"options\": " + GSON.toJson(version.provenance().options()));
        out.write(",\n\"sources\": [");
        gap = "\n";
        for (SourceRecord source : version.sources()) {
            out.write(gap);
            gap = ",\n";
            GSON.toJson(source, SourceRecord.class, out);
        }
        out.write("],\n\"ttlMs\": " + version.provenance().ttlMs());
        if (!version.provenance().look().isEmpty()) {
            out.write(",\n\"look\": " + GSON.toJson(version.provenance().look()));
        }
        out.write(",\n\"publisher\": " + GSON.toJson(version.provenance().publisher()) + "}\n");
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

    /** Reads the provenance of a version from a file of this user. */
    public static Provenance readProvenance(Path file) {
        return readProvenance(file, Posix.system().userId());
    }

    /** Reads the provenance of a version from a file that must belong to {@code owner}. */
    public static Provenance readProvenance(Path file, int owner) {
        try {
            requireOwned(file, owner);
            Provenance provenance;
            try (Reader reader = Files.newBufferedReader(file)) {
                provenance = GSON.fromJson(reader, Provenance.class);
            }
            requireComplete(provenance);
            return provenance;
        } catch (IOException | RuntimeException e) {
            throw damaged("manifest is damaged", file, Remedy.reload(file.getParent()), e);
        }
    }

    /** Reads which rows a version has, or null if it is whole. The caller must trust the owner of the store. */
    public static @Nullable ShardRecord readShard(Path file) {
        try (Reader reader = Files.newBufferedReader(file)) {
            Provenance provenance = GSON.fromJson(reader, Provenance.class);
            return provenance.shard();
        } catch (IOException | RuntimeException e) {
            throw damaged("manifest is damaged", file, Remedy.reload(file.getParent()), e);
        }
    }

    /** Rejects a file as {@link #requireOwned} does unless it is this user's. */
    public static FileStatus requireOwn(Path file) throws IOException {
        return requireOwned(file, Posix.system().userId());
    }

    /**
     * Rejects a missing file and one of another user than {@code owner}: it could link to any file that this process can open, or be a pipe.
     *
     * @return its status
     */
    public static FileStatus requireOwned(Path file, int owner) throws IOException {
        FileStatus found;
        try {
            found = Posix.system().statusOfLink(file);
        } catch (LarderException e) {
            throw new IOException(e);
        }
        if (found.uid() != owner || !found.isRegular()) {
            throw new IOException("the file belongs to another user or is not regular");
        }
        return found;
    }

    private static void requireComplete(Provenance provenance) {
        Objects.requireNonNull(provenance.options());
        provenance.sources().forEach(source -> Objects.requireNonNull(source.sample()));
    }

    private static LarderException damaged(String what, Path file, String remedy, Exception cause) {
        return Failure.of(ErrorCode.CHECKSUM, what)
                .with("file", file)
                .with("reason", cause.getClass().getSimpleName())
                .cause(cause)
                .remedy(remedy);
    }

    /** Writes a manifest without a version, in the form that {@link #readRegistration} reads. */
    public static void writeRegistration(Registration registration, Writer out) throws IOException {
        Provenance provenance = registration.provenance();
        List<ArrayBytes> data =
                registration.dataBytes() == 0 ? List.of() : List.of(new ArrayBytes(registration.dataBytes()));
        out.write(GSON.toJson(new Head(
                registration.dataset(),
                registration.version(),
                registration.digest(),
                data,
                provenance.origins(),
                provenance.options(),
                provenance.sources(),
                provenance.ttlMs(),
                provenance.shard(),
                registration.pinned())));
        out.write('\n');
    }

    /** Reads the manifest of an evicted version, or one without a version, from a file that must belong to {@code owner}. */
    public static Registration readRegistration(Path file, String dataset, int owner) {
        try {
            requireOwned(file, owner);
            Head head;
            try (Reader reader = Files.newBufferedReader(file)) {
                head = GSON.fromJson(reader, Head.class);
            }
            Provenance provenance =
                    new Provenance(head.origins, head.options, head.sources, head.ttlMs).withShard(head.shard);
            requireComplete(provenance);
            Objects.requireNonNull(head.digest);
            if (!dataset.equals(head.dataset) || head.version < 0) {
                throw new IllegalArgumentException("of another dataset");
            }
            long dataBytes = head.arrays.stream().mapToLong(ArrayBytes::bytes).sum();
            return new Registration(dataset, head.version, head.digest, dataBytes, provenance, head.pinned);
        } catch (IOException | RuntimeException e) {
            throw damaged("registration is damaged", file, Remedy.reload(dataset), e);
        }
    }

    /** The parts of a manifest that matter after its version is gone. */
    private record Head(
            String dataset,
            long version,
            String digest,
            List<ArrayBytes> arrays,
            List<String> origins,
            LoadOptions options,
            List<SourceRecord> sources,
            long ttlMs,
            @Nullable ShardRecord shard,
            boolean pinned) {}

    private record ArrayBytes(long bytes) {}
}
