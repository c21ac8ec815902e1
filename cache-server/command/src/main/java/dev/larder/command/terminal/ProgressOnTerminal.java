package dev.larder.command.terminal;

import dev.larder.command.output.Outcome;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import java.io.PrintWriter;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** Draws a bar with bytes, rate and remaining time for each phase, always on the same line. */
final class ProgressOnTerminal implements ProgressDisplay {
    private static final int WIDTH = 79;
    private static final long MEBIBYTE = 1 << 20;
    private static final String ERASE_LINE = "\r\u001b[K";

    private final PrintWriter err;
    private Progress.@Nullable Phase phase;
    private @Nullable ProgressBar bar;
    private String lastMessage = "";

    ProgressOnTerminal(PrintWriter err) {
        this.err = err;
    }

    @Override
    public void progress(Progress progress) {
        if (!progress.message().isEmpty() && !progress.message().equals(lastMessage)) {
            lastMessage = progress.message();
            draw("larder: " + lastMessage + "\n");
        }
        if (progress.phase() != phase || bar == null) {
            phase = progress.phase();
            close();
            bar = start(ProgressDisplay.describe(progress));
        }
        if (progress.filesDone() > 0) {
            String total = progress.filesTotal() < 0 ? "" : " of " + progress.filesTotal();
            bar.setExtraMessage(progress.filesDone() + total + " files");
        }
        bar.maxHint(progress.bytesTotal()).stepTo(progress.bytesDone());
    }

    @Override
    public void done(Done done) {
        close();
        Outcome.note(done, err);
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
            bar = null;
            draw("");
        }
    }

    private ProgressBar start(String task) {
        return new ProgressBarBuilder()
                .setTaskName(task)
                .setStyle(ProgressBarStyle.ASCII)
                .setUnit(" MiB", MEBIBYTE)
                .showSpeed()
                .setInitialMax(Progress.UNKNOWN)
                .setUpdateIntervalMillis(200)
                .setConsumer(new DelegatingProgressBarConsumer(this::draw, WIDTH))
                .build();
    }

    /** The bar draws from a thread of its own. */
    private synchronized void draw(String text) {
        err.print(ERASE_LINE + text);
        err.flush();
    }
}
