package dev.larder.command.output;

import dev.larder.internal.protocol.Progress;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Computes the rate and the remaining time of a phase from its progress. */
public final class Rate {
    private static final double NANOS = 1e9;

    private final LongSupplier nanoClock;
    private Progress.@Nullable Phase phase;
    private long beganNanos;
    private long bytesAtStart;
    private double seconds;
    private Progress latest = Progress.of(Progress.Phase.OTHER, "", "");

    /** Creates a rate without progress. */
    public Rate(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Adds a report; returns whether it begins a new phase. */
    public boolean update(Progress progress) {
        long now = nanoClock.getAsLong();
        boolean isNew = progress.phase() != phase
                || progress.bytesDone() < latest.bytesDone()
                || progress.bytesTotal() != latest.bytesTotal();
        if (isNew) {
            phase = progress.phase();
            beganNanos = now;
            bytesAtStart = progress.bytesDone();
        }
        seconds = (now - beganNanos) / NANOS;
        latest = progress;
        return isNew;
    }

    /** Returns the bytes per second; 0 if the rate is unknown. */
    public double bytesPerSecond() {
        return seconds > 0 ? (latest.bytesDone() - bytesAtStart) / seconds : 0;
    }

    /** Returns the remaining seconds of the phase at this rate; negative if they are unknown. */
    public double etaSeconds() {
        double speed = bytesPerSecond();
        return latest.bytesTotal() < 0 || speed <= 0 ? -1 : (latest.bytesTotal() - latest.bytesDone()) / speed;
    }
}
