package dev.larder.spark.source;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;

/**
 * A folder as Hugging Face's {@code save_to_disk} lays it out, on any file system of Hadoop: Arrow streams, and {@code state.json}, which
 * lists those that belong to the dataset. That file is the commit: it is written last, and what it does not list is not there. While a
 * first write runs it lists nothing, and everybody who reads folders refuses one that lists nothing.
 */
final class SavedFolder {
    static final String PREFIX = "data-";
    static final String SUFFIX = ".arrow";

    private static final String STATE = "state.json";
    private static final String NEW_STATE = ".state.json.new";
    private static final String INFO = "dataset_info.json";
    private static final String FILES = "_data_files";
    private static final String FILE = "filename";
    private static final String ROWS = "rows";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final FileSystem files;
    private final Path folder;

    /** A part that belongs to the dataset. */
    record Part(String name, long rows) {}

    private SavedFolder(FileSystem files, Path folder) {
        this.files = files;
        this.folder = folder;
    }

    /** Addresses a folder, in Spark's driver; nothing is read yet. */
    static SavedFolder at(String path) {
        return at(path, SparkSession.active().sparkContext().hadoopConfiguration());
    }

    /** Addresses a folder. */
    static SavedFolder at(String path, Configuration configuration) {
        Path folder = new Path(path);
        try {
            FileSystem files = folder.getFileSystem(configuration);
            // beside each of its files that one would keep another, with checksums
            FileSystem plain = files instanceof LocalFileSystem local ? local.getRawFileSystem() : files;
            return new SavedFolder(plain, plain.makeQualified(folder));
        } catch (IOException e) {
            throw failed("cannot reach a folder", folder, e);
        }
    }

    private static RuntimeException failed(String what, Path path, IOException reason) {
        return Failure.of(ErrorCode.BAD_INPUT, what)
                .with("path", path)
                .with("reason", reason)
                .cause(reason)
                .remedy("see whether this user may read and write there");
    }

    Path file(String name) {
        return new Path(folder, name);
    }

    FileSystem files() {
        return files;
    }

    /** Tells whether something is there already that a new dataset must not mix with; what a write that died left is nothing. */
    boolean isOccupied() {
        try {
            return files.exists(folder) && hasEntries() && !isBegun();
        } catch (IOException e) {
            throw failed("cannot list a folder", folder, e);
        }
    }

    private boolean hasEntries() throws IOException {
        return Arrays.stream(files.listStatus(folder))
                .anyMatch(entry -> !entry.getPath().getName().equals(NEW_STATE));
    }

    /** Tells whether a first write has begun here that has not ended. */
    private boolean isBegun() throws IOException {
        return files.exists(file(STATE)) && parts().isEmpty();
    }

    /** Returns the parts of the dataset, in their order; none where there is no dataset. */
    List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        try (FSDataInputStream in = files.open(file(STATE))) {
            JsonNode listed = JSON.readTree(in.readAllBytes()).path(FILES);
            if (!listed.isArray()) {
                throw failed(
                        "cannot read what a folder lists",
                        file(STATE),
                        new IOException("it is cut short: no " + FILES));
            }
            listed.forEach(part ->
                    parts.add(new Part(part.path(FILE).asText(), part.path(ROWS).asLong(-1))));
            return parts;
        } catch (FileNotFoundException e) {
            return List.of();
        } catch (IOException e) {
            throw failed("cannot read what a folder lists", file(STATE), e);
        }
    }

    /** Reads the types of the columns. */
    Schema schema() {
        List<Part> parts = parts();
        if (parts.isEmpty()) {
            throw noDataset();
        }
        Path first = file(parts.get(0).name());
        try (RootAllocator memory = new RootAllocator();
                ArrowStreamReader reader = new ArrowStreamReader(files.open(first), memory)) {
            return reader.getVectorSchemaRoot().getSchema();
        } catch (IOException e) {
            throw failed("cannot read a part", first, e);
        }
    }

    RuntimeException noDataset() {
        return Failure.of(ErrorCode.BAD_INPUT, "no dataset is in this folder")
                .with("folder", folder)
                .remedy("name one that df.write.format(\"larder\") has written, or wait until it has");
    }

    /** Says that a write has begun, where there is no dataset yet. */
    void begin() {
        try {
            files.mkdirs(folder);
            if (parts().isEmpty()) {
                replaceState(state(List.of(), ""));
            }
        } catch (IOException e) {
            throw failed("cannot write into a folder", folder, e);
        }
    }

    /** Makes these parts the dataset, and removes all others. */
    void commit(List<Part> parts, String fingerprint) {
        try {
            ObjectNode info = JSON.createObjectNode();
            List.of("citation", "description", "homepage", "license").forEach(key -> info.put(key, ""));
            write(INFO, info);
            replaceState(state(parts, fingerprint));
        } catch (IOException e) {
            throw failed("cannot finish a dataset", folder, e);
        }
        try {
            removeAllBut(names(parts), "");
        } catch (IOException | RuntimeException e) {
            return; // the dataset is whole; what could not be removed belongs to nothing, and the next write removes it
        }
    }

    private static Set<String> names(List<Part> parts) {
        return Set.copyOf(parts.stream().map(Part::name).toList());
    }

    /** Removes what a write has left, but nothing that the dataset lists, and the folder where nothing else is in it. */
    void abort(String write) {
        try {
            files.delete(file(NEW_STATE), false);
            removeAllBut(names(parts()), write);
            if (isBegun()) {
                files.delete(file(STATE), false);
                if (files.listStatus(folder).length == 0) {
                    files.delete(folder, false);
                }
            }
        } catch (IOException e) {
            throw failed("cannot remove what a write has left", folder, e);
        }
    }

    private void removeAllBut(Set<String> kept, String write) throws IOException {
        for (FileStatus entry : files.listStatus(folder)) {
            String name = entry.getPath().getName();
            boolean isPart = name.startsWith(PREFIX) && name.endsWith(write + SUFFIX);
            if (isPart && !kept.contains(name)) {
                files.delete(entry.getPath(), false);
            }
        }
    }

    private static ObjectNode state(List<Part> parts, String fingerprint) {
        ObjectNode state = JSON.createObjectNode();
        ArrayNode listed = state.putArray(FILES);
        parts.forEach(part -> listed.addObject().put(FILE, part.name()).put(ROWS, part.rows()));
        state.put("_fingerprint", fingerprint);
        state.putNull("_format_columns");
        state.putObject("_format_kwargs");
        state.putNull("_format_type");
        state.put("_output_all_columns", false);
        state.putNull("_split");
        return state;
    }

    /** Replaces the list at once: by renaming where a file system renames, else by the put of an object store, which is whole or not. */
    private void replaceState(ObjectNode json) throws IOException {
        String kind = String.valueOf(files.getUri().getScheme());
        boolean isLocal = kind.equals("file");
        if (!isLocal && !kind.equals("hdfs") && !kind.equals("viewfs")) {
            write(STATE, json);
            return;
        }
        write(NEW_STATE, json);
        if (isLocal) { // Hadoop's own renaming removes the old file first there
            Files.move(
                    java.nio.file.Path.of(file(NEW_STATE).toUri().getPath()),
                    java.nio.file.Path.of(file(STATE).toUri().getPath()),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } else {
            FileContext.getFileContext(files.getUri(), files.getConf())
                    .rename(file(NEW_STATE), file(STATE), Rename.OVERWRITE);
        }
    }

    private void write(String name, ObjectNode json) throws IOException {
        try (OutputStream out = files.create(file(name), true)) {
            out.write(json.toPrettyString().getBytes(StandardCharsets.UTF_8));
        }
    }
}
