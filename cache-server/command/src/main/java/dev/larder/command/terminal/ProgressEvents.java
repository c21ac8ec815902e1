package dev.larder.command.terminal;

import com.google.gson.stream.JsonWriter;
import dev.larder.error.LarderException;
import dev.larder.protocol.Done;
import dev.larder.protocol.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.function.LongSupplier;

/** Writes one JSON object a line: {@code progress} for every report, then one {@code done} or {@code error}. */
final class ProgressEvents implements ProgressDisplay {
    private final PrintWriter err;
    private final Rate rate;

    ProgressEvents(PrintWriter err) {
        this(err, System::nanoTime);
    }

    ProgressEvents(PrintWriter err, LongSupplier nanoClock) {
        this.err = err;
        this.rate = new Rate(nanoClock);
    }

    @Override
    public void progress(Progress progress) {
        rate.update(progress);
        line("progress", json -> {
            json.name("phase").value(ProgressDisplay.phase(progress));
            json.name("name").value(progress.name());
            json.name("bytesDone").value(progress.bytesDone());
            total(json.name("bytesTotal"), progress.bytesTotal());
            json.name("filesDone").value(progress.filesDone());
            total(json.name("filesTotal"), progress.filesTotal());
            json.name("bytesPerSecond").value(Math.round(rate.bytesPerSecond()));
            double eta = rate.etaSeconds();
            json.name("etaSeconds");
            if (eta < 0) {
                json.nullValue();
            } else {
                json.value(Math.round(eta * 10) / 10.0);
            }
            json.name("message").value(progress.message());
        });
    }

    @Override
    public void done(Done done) {
        line("done", json -> {
            json.name("files").value(done.files());
            json.name("bytes").value(done.bytes());
            json.name("message").value(done.message());
        });
    }

    @Override
    public boolean problem(LarderException failure) {
        line("error", json -> {
            json.name("code").value(failure.rawCode());
            json.name("message").value(failure.getMessage());
        });
        return true;
    }

    @Override
    public void close() {
        err.flush();
    }

    private static void total(JsonWriter json, long total) throws IOException {
        if (total == Progress.UNKNOWN) {
            json.nullValue();
        } else {
            json.value(total);
        }
    }

    private void line(String event, Fields fields) {
        StringWriter text = new StringWriter();
        try (JsonWriter json = new JsonWriter(text)) {
            json.setSerializeNulls(true);
            json.beginObject().name("event").value(event);
            fields.write(json);
            json.endObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        err.println(text);
    }

    /** Writes the fields of an object. */
    @FunctionalInterface
    private interface Fields {
        void write(JsonWriter json) throws IOException;
    }
}
