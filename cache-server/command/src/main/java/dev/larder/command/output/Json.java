package dev.larder.command.output;

import com.google.gson.stream.JsonWriter;
import dev.larder.protocol.ArrayRow;
import dev.larder.protocol.DaemonStatus;
import dev.larder.protocol.ErrorRow;
import dev.larder.protocol.RegionRow;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/** Writes the JSON that other programs rely on: its keys are part of the contract. */
public final class Json {
    private Json() {}

    /** Returns a bare list. */
    public static String arrays(List<ArrayRow> rows) {
        return document(json -> {
            json.beginArray();
            for (ArrayRow row : rows) {
                write(json, row);
            }
            json.endArray();
        });
    }

    /** Returns one object. */
    public static String array(ArrayRow row) {
        return document(json -> write(json, row));
    }

    /** Returns one object. */
    public static String status(DaemonStatus status) {
        return document(json -> json.beginObject()
                .name("store")
                .value(status.store())
                .name("pid")
                .value(status.pid())
                .name("version")
                .value(status.version())
                .name("capacityBytes")
                .value(status.capacityBytes())
                .name("usedBytes")
                .value(status.usedBytes())
                .name("leasedBytes")
                .value(status.leasedBytes())
                .name("pinnedBytes")
                .value(status.pinnedBytes())
                .name("retiredBytes")
                .value(status.retiredBytes())
                .name("arrays")
                .value(status.arrays())
                .name("clients")
                .value(status.clients())
                .name("hugePages")
                .value(status.hugePages())
                .name("uptimeSeconds")
                .value(status.uptime().toSeconds())
                .endObject());
    }

    /** Returns a bare list. */
    public static String clients(List<ClientRow> rows) {
        return document(json -> writeClients(json, rows));
    }

    /** Writes a bare list. */
    public static void writeClients(JsonWriter json, List<ClientRow> rows) throws IOException {
        json.beginArray();
        for (ClientRow row : rows) {
            json.beginObject()
                    .name("pid")
                    .value(row.pid())
                    .name("uid")
                    .value(row.uid())
                    .name("user")
                    .value(row.user())
                    .name("command")
                    .value(row.command())
                    .name("datasets")
                    .beginArray();
            for (String dataset : row.datasets()) {
                json.value(dataset);
            }
            json.endArray().name("bytes").value(row.bytes()).endObject();
        }
        json.endArray();
    }

    /** Returns a bare list; stack traces only where they are wanted. */
    public static String errors(List<ErrorRow> rows, boolean withTraces) {
        return document(json -> {
            json.beginArray();
            for (ErrorRow row : rows) {
                json.beginObject()
                        .name("count")
                        .value(row.count())
                        .name("first")
                        .value(row.first().toString())
                        .name("last")
                        .value(row.last().toString())
                        .name("message")
                        .value(row.message());
                if (withTraces) {
                    json.name("trace").value(row.trace());
                }
                json.endObject();
            }
            json.endArray();
        });
    }

    /** Returns a bare list; the path of a region without a file is empty. */
    public static String regions(List<RegionRow> rows) {
        return document(json -> {
            json.beginArray();
            for (RegionRow row : rows) {
                json.beginObject()
                        .name("name")
                        .value(row.name())
                        .name("kind")
                        .value(row.kind())
                        .name("bytes")
                        .value(row.byteSize())
                        .name("creatorPid")
                        .value(row.creatorPid())
                        .name("created")
                        .value(row.created().toString())
                        .name("path")
                        .value(row.path().map(Path::toString).orElse(""))
                        .endObject();
            }
            json.endArray();
        });
    }

    private static void write(JsonWriter json, ArrayRow row) throws IOException {
        json.beginObject().name("name").value(row.name());
        writeDtype(json.name("dtype"), row.dtype());
        json.name("shape").beginArray();
        for (long extent : row.shape()) {
            json.value(extent);
        }
        json.endArray()
                .name("order")
                .value(String.valueOf(row.order()))
                .name("bytes")
                .value(row.bytes())
                .name("version")
                .value(row.version())
                .name("digest")
                .value(row.digest())
                .name("state")
                .value(row.state().text())
                .name("pinned")
                .value(row.pinned())
                .name("leases")
                .value(row.leases())
                .name("path")
                .value(row.path())
                .name("offset")
                .value(row.offset())
                .name("crc32c")
                .value(row.crc32c())
                .name("source")
                .value(row.source())
                .name("column")
                .value(row.part().kind() == null ? null : row.part().columnName(row.name()))
                .name("columnKind")
                .value(row.part().kind() == null ? null : row.part().kind().word())
                .endObject();
    }

    /** Writes a plain type as text; a structured one comes as JSON already. */
    private static void writeDtype(JsonWriter json, String dtype) throws IOException {
        if (dtype.isEmpty()) {
            json.nullValue(); // of a dataset that is not there
        } else if (dtype.startsWith("[")) {
            json.jsonValue(dtype);
        } else {
            json.value(dtype);
        }
    }

    /** Returns what the body writes, indented. */
    public static String document(Body body) {
        StringWriter text = new StringWriter();
        try (JsonWriter json = new JsonWriter(text)) {
            json.setIndent("  ");
            body.write(json);
            return text.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns one object in one line. */
    public static String line(Body body) {
        StringWriter text = new StringWriter();
        try (JsonWriter json = new JsonWriter(text)) {
            body.write(json);
            return text.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the one value of a document. */
    @FunctionalInterface
    public interface Body {
        void write(JsonWriter json) throws IOException;
    }
}
