package dev.larder.examples.opencl;

import dev.larder.loader.device.Fence;
import dev.larder.loader.opencl.OpenClDevice;
import java.nio.FloatBuffer;
import java.time.Duration;
import org.jocl.CL;
import org.jocl.cl_event;
import org.jspecify.annotations.Nullable;

/**
 * Losses and hits of an epoch, copied to the host without stalling the device. Every step writes its values to a page on the device;
 * the host copies a full page while the device writes the next one.
 */
final class Scores implements AutoCloseable {
    private static final int STEPS = 64;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final OwnDevice device;
    private final FloatBuffer fetched = OwnDevice.floats(2 * STEPS);
    private Matrix page;
    private Matrix other;
    private int steps;
    private @Nullable Fence otherWritten;
    private int otherSteps;
    private long samples;
    private double loss;
    private double hits;

    /** The mean loss and accuracy of an epoch. */
    record Score(double loss, double accuracy) {
        static final Score NONE = new Score(Double.NaN, Double.NaN);
    }

    Scores(OwnDevice device) {
        this.device = device;
        this.page = device.zeros(STEPS, 2);
        this.other = device.zeros(STEPS, 2);
    }

    /** Adds the last measurement of the network. */
    void add(Mlp network, int count) {
        network.tally(count, page, steps++);
        samples += count;
        if (steps == STEPS) {
            turn();
        }
    }

    /** Switches to the other page after copying it. It was complete a page ago, so this seldom waits. */
    private void turn() {
        collect();
        cl_event event = device.mark();
        otherWritten = OpenClDevice.fence(event);
        CL.clReleaseEvent(event);
        otherSteps = steps;
        steps = 0;
        Matrix written = page;
        page = other;
        other = written;
    }

    private void collect() {
        if (otherWritten == null) {
            return;
        }
        try (Fence written = otherWritten) {
            written.await(PATIENCE);
        }
        otherWritten = null;
        device.read(other, fetched);
        for (int i = 0; i < otherSteps; i++) {
            loss += fetched.get(2 * i);
            hits += fetched.get(2 * i + 1);
        }
    }

    /** Waits for the last step, returns the score and starts again from zero. */
    Score finish() {
        turn();
        collect();
        Score score = new Score(loss / samples, hits / samples);
        samples = 0;
        loss = 0;
        hits = 0;
        return score;
    }

    /** Discards values not yet copied. */
    @Override
    public void close() {
        if (otherWritten != null) {
            otherWritten.close();
            otherWritten = null;
        }
    }
}
