package dev.larder.command.output;

import dev.larder.internal.protocol.Progress;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Works out how fast a phase goes, and how long it still takes, from what is done of it since it began. */
public final class Rate {
    private static final double NANOS = 1e9;

    private final LongSupplier nanoClock;
    private Progress.@Nullable Phase phase;
    private long beganNanos;
    private long bytesAtStart;
    private long filesAtStart;
    private double seconds;
    private Progress latest = Progress.of(Progress.Phase.OTHER, "", "");

    /** Begins with nothing done. */
    public Rate(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Takes a report in, and returns whether it begins a new phase. */
    public boolean update(Progress progress) {
        long now = nanoClock.getAsLong();
        boolean isNew = progress.phase() != phase
                || progress.bytesDone() < latest.bytesDone()
                || progress.bytesTotal() != latest.bytesTotal();
        if (isNew) {
            phase = progress.phase();
            beganNanos = now;
            bytesAtStart = progress.bytesDone();
            filesAtStart = progress.filesDone();
        }
        seconds = (now - beganNanos) / NANOS;
        latest = progress;
        return isNew;
    }

    /** Returns the bytes of a second; 0 as long as that cannot be told. */
    public double bytesPerSecond() {
        return seconds > 0 ? (latest.bytesDone() - bytesAtStart) / seconds : 0;
    }

    /** Returns the files of a second; 0 as long as that cannot be told. */
    public double filesPerSecond() {
        return seconds > 0 ? (latest.filesDone() - filesAtStart) / seconds : 0;
    }

    /** Returns the seconds that the phase still takes if it goes on so; negative where that cannot be told. */
    public double etaSeconds() {
        double speed = bytesPerSecond();
        return latest.bytesTotal() < 0 || speed <= 0 ? -1 : (latest.bytesTotal() - latest.bytesDone()) / speed;
    }
}
