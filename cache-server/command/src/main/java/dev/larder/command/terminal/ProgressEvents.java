package dev.larder.command.terminal;

import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.Rate;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import java.io.PrintWriter;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

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
        double eta = rate.etaSeconds();
        say(new JsonFields()
                .with("event", "progress")
                .with("phase", ProgressDisplay.phase(progress))
                .with("name", progress.name())
                .with("bytesDone", progress.bytesDone())
                .with("bytesTotal", total(progress.bytesTotal()))
                .with("filesDone", progress.filesDone())
                .with("filesTotal", total(progress.filesTotal()))
                .with("bytesPerSecond", Math.round(rate.bytesPerSecond()))
                .with("etaSeconds", eta < 0 ? null : Math.round(eta * 10) / 10.0)
                .with("message", progress.message()));
    }

    @Override
    public void done(Done done) {
        say(new JsonFields()
                .with("event", "done")
                .with("files", done.files())
                .with("bytes", done.bytes())
                .with("message", done.message()));
    }

    @Override
    public boolean problem(LarderException failure) {
        say(new JsonFields()
                .with("event", "error")
                .with("code", failure.rawCode())
                .with("message", failure.getMessage()));
        return true;
    }

    @Override
    public void close() {
        err.flush();
    }

    private static @Nullable Long total(long total) {
        return total == Progress.UNKNOWN ? null : total;
    }

    private void say(JsonFields event) {
        err.println(Json.line(event));
    }
}
