package dev.larder.command.output;

import com.google.gson.stream.JsonWriter;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.RegionRow;
import dev.larder.server.store.StoreReport;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes the JSON that other programs rely on: its keys are part of the contract. */
public final class Json {
    private Json() {}

    /** A value that is JSON already. */
    public record Raw(String json) {}

    /** Returns one object. */
    public static String array(ArrayRow row) {
        return document(fields(row));
    }

    /** Returns one object; rates of feeds come from an earlier sample. */
    public static String status(DaemonStatus status, List<FeedRow> feeds, List<FeedRow> earlier, List<LoadRow> loads) {
        return document(fields(status)
                .with("uptimeSeconds", status.uptime().toSeconds())
                .with("feeds", feeds.stream().map(feed -> feed.fields(earlier)).toList())
                .with("loads", loads.stream().map(LoadRow::fields).toList()));
    }

    /** Returns the fields of totals, without those that change with every sample. */
    public static JsonFields fields(DaemonStatus status) {
        return new JsonFields()
                .with("store", status.store())
                .with("pid", status.pid())
                .with("version", status.version())
                .with("capacityBytes", status.capacityBytes())
                .with("usedBytes", status.usedBytes())
                .with("leasedBytes", status.leasedBytes())
                .with("pinnedBytes", status.pinnedBytes())
                .with("retiredBytes", status.retiredBytes())
                .with("reservedBytes", status.reservedBytes())
                .with("arrays", status.arrays())
                .with("clients", status.clients())
                .with("hugePages", status.hugePages())
                .with("hugeBytes", status.hugeBytes())
                .with("hugeRefusedBytes", status.hugeRefusedBytes())
                .with("memoryPolicy", status.memoryPolicy())
                .with("statusPage", status.statusPage().isEmpty() ? null : status.statusPage());
    }

    /** Returns the fields of a client. */
    public static JsonFields fields(ClientRow row) {
        JsonFields fields = new JsonFields()
                .with("pid", row.pid())
                .with("uid", row.uid())
                .with("user", row.user())
                .with("command", row.command())
                .with("datasets", row.datasets())
                .with("bytes", row.bytes())
                .with("feeds", row.feeds());
        RunFacts run = row.run();
        return run == null ? fields : fields.with("run", run.fields());
    }

    /** Returns a bare list, with stack traces if requested. */
    public static String errors(List<ErrorRow> rows, boolean withTraces) {
        return document(rows.stream()
                .map(row -> withTraces ? fields(row).with("trace", row.trace()) : fields(row))
                .toList());
    }

    /** Returns the fields of errors of one kind, without their stack traces. */
    public static JsonFields fields(ErrorRow row) {
        return new JsonFields()
                .with("count", row.count())
                .with("first", row.first())
                .with("last", row.last())
                .with("message", row.message());
    }

    /** Returns a bare list. */
    public static String regions(List<RegionRow> rows) {
        return document(rows.stream()
                .map(row -> new JsonFields()
                        .with("name", row.name())
                        .with("kind", row.kind())
                        .with("bytes", row.bytes())
                        .with("creatorPid", row.creatorPid())
                        .with("created", row.created())
                        .with("path", row.path()))
                .toList());
    }

    /** Returns a bare list of the stores that {@code gc} found. */
    public static String stores(List<StoreReport> reports) {
        return document(reports.stream()
                .map(report -> new JsonFields()
                        .with("store", report.store().toString())
                        .with("state", state(report))
                        .with("detail", report.detail())
                        .with("files", report.files())
                        .with("bytes", report.bytes())
                        .with("heldUntilExit", report.heldUntilExitBytes())
                        .with("leased", report.leased())
                        .with("pids", report.holders()))
                .toList());
    }

    /** Returns {@code live}, {@code dead}, {@code computed}, {@code kept}, {@code removed}, {@code foreign} or {@code noStore}. */
    private static String state(StoreReport report) {
        return report.state() == StoreReport.State.NO_STORE
                ? "noStore"
                : report.state().name().toLowerCase(Locale.ROOT);
    }

    /** Returns the fields of an array. */
    public static JsonFields fields(ArrayRow row) {
        String column = row.part().kind();
        return new JsonFields()
                .with("name", row.name())
                .with("dtype", dtype(row.dtype()))
                .with("shape", row.shape())
                .with("order", row.order())
                .with("bytes", row.bytes())
                .with("version", row.version())
                .with("digest", row.digest())
                .with("state", row.state().text())
                .with("pinned", row.pinned())
                .with("leases", row.leases())
                .with("path", row.path())
                .with("offset", row.offset())
                .with("crc32c", row.crc32c())
                .with("source", row.source())
                .with("column", column.isEmpty() ? null : row.part().columnName(row.name()))
                .with("columnKind", column.isEmpty() ? null : column);
    }

    /** Returns {@code askHits} for {@code ask hits}. */
    public static String key(String label) {
        StringBuilder key = new StringBuilder();
        for (String word : label.split(" ", -1)) {
            key.append(key.isEmpty() ? word.charAt(0) : Character.toUpperCase(word.charAt(0)))
                    .append(word.substring(1));
        }
        return key.toString();
    }

    /** Returns a plain type as text, a structured one as JSON, and null for a dataset that is not resident. */
    private static @Nullable Object dtype(String dtype) {
        return dtype.isEmpty() ? null : dtype.startsWith("[") ? new Raw(dtype) : dtype;
    }

    /** Returns a value, indented. */
    public static String document(Object value) {
        return text(value, "  ");
    }

    /** Returns a value in one line. */
    public static String line(Object value) {
        return text(value, "");
    }

    /** Prints a bare list, indented, one element after the other, because the whole list may not fit into memory. */
    public static void print(PrintWriter out, Stream<?> elements) {
        JsonWriter json = new JsonWriter(out); // not closed: the caller owns the writer
        json.setIndent("  ");
        try {
            json.beginArray();
            for (Iterator<?> left = elements.iterator(); left.hasNext(); ) {
                write(json, left.next());
            }
            json.endArray().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        out.println();
    }

    private static String text(Object value, String indent) {
        StringWriter text = new StringWriter();
        try (JsonWriter json = new JsonWriter(text)) {
            json.setIndent(indent);
            write(json, value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void write(JsonWriter json, @Nullable Object value) throws IOException {
        if (value instanceof JsonFields object) {
            json.beginObject();
            for (Map.Entry<String, @Nullable Object> field : object.map().entrySet()) {
                write(json.name(field.getKey()), field.getValue());
            }
            json.endObject();
        } else if (value instanceof Collection<?> list) {
            json.beginArray();
            for (Object element : list) {
                write(json, element);
            }
            json.endArray();
        } else if (value instanceof Raw raw) {
            json.jsonValue(raw.json());
        } else if (value instanceof Number number) {
            json.value(number);
        } else if (value instanceof Boolean truth) {
            json.value(truth);
        } else {
            json.value(value == null ? null : value.toString());
        }
    }
}
