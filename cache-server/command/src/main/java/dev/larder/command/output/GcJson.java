package dev.larder.command.output;

import com.google.gson.stream.JsonWriter;
import dev.larder.server.store.StoreReport;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** Writes what {@code gc --json} prints. */
public final class GcJson {
    private GcJson() {}

    /** Returns a bare list. */
    public static String reports(List<StoreReport> reports) {
        return Json.document(json -> {
            json.beginArray();
            for (StoreReport report : reports) {
                write(json, report);
            }
            json.endArray();
        });
    }

    private static void write(JsonWriter json, StoreReport report) throws IOException {
        json.beginObject()
                .name("store")
                .value(report.store().toString())
                .name("state")
                .value(state(report))
                .name("detail")
                .value(report.detail())
                .name("files")
                .value(report.files())
                .name("bytes")
                .value(report.bytes())
                .name("heldUntilExit")
                .value(report.heldUntilExitBytes());
        json.name("leased").beginArray();
        for (String version : report.leased()) {
            json.value(version);
        }
        json.endArray().name("pids").beginArray();
        for (long pid : report.holders()) {
            json.value(pid);
        }
        json.endArray().endObject();
    }

    /** Returns {@code live}, {@code dead}, {@code kept}, {@code removed}, {@code foreign} or {@code noStore}. */
    private static String state(StoreReport report) {
        return report.state() == StoreReport.State.NO_STORE
                ? "noStore"
                : report.state().name().toLowerCase(Locale.ROOT);
    }
}
